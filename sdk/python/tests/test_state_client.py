"""The client of states, against a server that keeps one."""

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import grpc

from torg_stages import Contended, Kept, StateClient
from torg_stages.proto import state_pb2
from torg_stages.state_client import SERVICE


class Keeper:
    """As Torg serves states: one, whatever it is asked for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept = state_pb2.GetStateResponse()
        self.seen: list[state_pb2.SetStateRequest] = []
        # A rival changes the state before each of so many calls to set it.
        self.rivals = 0
        self.metadata: dict[str, str] = {}

    def get(self, request: state_pb2.GetStateRequest, context: grpc.ServicerContext) -> state_pb2.GetStateResponse:
        self.metadata = dict(context.invocation_metadata())
        with self.lock:
            return state_pb2.GetStateResponse.FromString(self.kept.SerializeToString())

    def set(self, request: state_pb2.SetStateRequest, context: grpc.ServicerContext) -> state_pb2.SetStateResponse:
        with self.lock:
            self.seen.append(request)
            if self.rivals:
                self.rivals -= 1
                self.kept.version += 1
            current = request.version == self.kept.version
            if current:
                self.kept.version += 1
                self.kept.ClearField("state")
                if request.HasField("state"):
                    self.kept.state.CopyFrom(request.state)
        if not current:
            context.abort(grpc.StatusCode.ABORTED, "it has changed")
        return state_pb2.SetStateResponse(version=request.version + 1)


def add_one(kept: Kept) -> dict[str, int]:
    return {"times": (kept.state or {"times": 0})["times"] + 1}


class StateClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.keeper = Keeper()
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                method, request_deserializer=request.FromString, response_serializer=lambda said: said.SerializeToString()
            )
            for name, method, request in [
                ("GetState", self.keeper.get, state_pb2.GetStateRequest),
                ("SetState", self.keeper.set, state_pb2.SetStateRequest),
            ]
        }
        server = grpc.server(ThreadPoolExecutor(8), handlers=[grpc.method_handlers_generic_handler(SERVICE, methods)])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        self.client = StateClient(f"http://127.0.0.1:{port}", "secret")
        self.addCleanup(self.client.close)

    def test_a_state_is_set_read_and_cleared(self) -> None:
        self.assertEqual(self.client.get("s", "1"), Kept(None, 0))
        self.assertTrue(self.client.set("s", "1", {"a": 1}, 0, visit=True))
        self.assertTrue(self.keeper.seen[0].visit)
        kept = self.client.get("s", "1")
        self.assertEqual((kept.state, kept.version), ({"a": 1}, 1))
        self.assertTrue(self.client.set("s", "1", None, 1))
        self.assertIsNone(self.client.get("s", "1").state)
        self.assertEqual(self.keeper.metadata["authorization"], "Bearer secret")

    def test_a_version_that_is_old_changes_nothing(self) -> None:
        self.client.set("s", "1", {"a": 1}, 0)
        self.assertFalse(self.client.set("s", "1", {"a": 2}, 0))
        self.assertEqual(self.client.get("s", "1").state, {"a": 1})

    def test_an_update_is_made_again_until_nobody_was_quicker(self) -> None:
        self.keeper.rivals = 3
        self.assertEqual(self.client.update("s", "1", add_one), {"times": 1})
        self.assertEqual([request.version for request in self.keeper.seen], [0, 1, 2, 3])

    def test_updates_of_many_at_once_all_count(self) -> None:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: self.client.update("s", "1", add_one), range(9)))
        self.assertEqual(self.client.get("s", "1").state, {"times": 9})

    def test_an_update_gives_up_in_the_end(self) -> None:
        self.keeper.rivals = 1000
        with self.assertRaises(Contended):
            self.client.update("s", "1", add_one)
        self.assertEqual(len(self.keeper.seen), 10)

    def test_an_address_that_is_none_is_refused(self) -> None:
        for address in ["127.0.0.1:8080", "ftp://torg.example", "http://torg.example/path"]:
            with self.assertRaises(ValueError):
                StateClient(address)
