"""A real server, and a stock client."""

import logging
import threading
import unittest
from collections.abc import Callable
from typing import Any as Anything

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from tests.stages import Counting, Silent
from torg_stages import Answer, Offer, Server, Stage, Subject
from torg_stages.proto import stage_pb2
from torg_stages.values import timestamp
from torg_stages.testing import NOW

TOKEN = "secret"


class Client:
    """Calls a server of stages."""

    def __init__(self, address: str, token: str | None = TOKEN) -> None:
        self.channel = grpc.insecure_channel(address)
        self.metadata = [("authorization", f"Bearer {token}")] if token else []

    def call(self, name: str, request: Anything, response: Anything) -> Anything:
        method = self.channel.unary_unary(
            f"/torg.stages.v1.StageService/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=response.FromString,
        )
        return method(request, metadata=self.metadata, timeout=30)

    def describe(self, stage: str) -> Anything:
        return self.call("Describe", stage_pb2.DescribeRequest(stage=stage), stage_pb2.DescribeResponse)

    def process(self, stage: str, *titles: str) -> Anything:
        offers = (Offer(id=str(number), version=number, title=title) for number, title in enumerate(titles, 1))
        subjects = [stage_pb2.Subject(offer=offer) for offer in offers]
        request = stage_pb2.ProcessRequest(stage=stage, now=timestamp(NOW), subjects=subjects)
        return self.call("Process", request, stage_pb2.ProcessResponse).answers

    def health(self, service: str) -> int:
        method = self.channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=Int32Value.FromString,
        )
        return method(StringValue(value=service), timeout=30).value


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        logging.getLogger("torg_stages").setLevel(logging.CRITICAL)
        self.server = Server([Counting(), Silent()], "127.0.0.1:0", token=TOKEN, message_bytes_max=100_000)
        self.server.start()
        self.addCleanup(self.server.stop, 0)
        self.client = self.connect(TOKEN)

    def connect(self, token: str | None) -> Client:
        client = Client(self.server.address, token)
        self.addCleanup(client.channel.close)
        return client

    def refused(self, code: grpc.StatusCode, call: Callable[[], Anything]) -> str:
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        self.assertEqual(caught.exception.code(), code)
        return str(caught.exception.details())

    def test_several_stages_describe_themselves_on_one_port(self) -> None:
        counting, silent = self.client.describe("counting"), self.client.describe("silent")
        self.assertEqual((counting.stage, counting.version), ("counting", "1.2.3"))
        self.assertEqual(list(counting.interest.fields.paths), ["title"])
        self.assertEqual(list(counting.interest.inputs.paths), ["price"])
        self.assertEqual(list(counting.sets.paths), ["description"])
        self.assertEqual((counting.interest.ask, counting.wants_saved), (False, False))
        self.assertEqual((silent.interest.ask, silent.wants_saved), (False, True))

    def test_what_fails_for_one_offer_fails_for_that_one_only(self) -> None:
        answers = self.client.process("counting", "good", "passing", "crash", "lasting", "long", "good")
        self.assertEqual([answer.id for answer in answers], ["1", "2", "3", "4", "5", "6"])
        self.assertEqual([answer.version for answer in answers], [1, 2, 3, 4, 5, 6])
        failures = [(answer.failure.message, answer.failure.lasting) for answer in answers]
        expected = [("", False), ("later", False), ("KeyError: 'colour'", False), ("never", True)]
        self.assertEqual(failures[:4], expected)
        self.assertEqual(len(failures[4][0]), 1000)
        self.assertEqual(answers[5].patch.values.description, "seen 1 times")

    def test_an_answer_that_is_none_fails_the_offer(self) -> None:
        (answer,) = self.client.process("silent", "good")
        self.assertIn("has to return a Answer, not None", answer.failure.message)

    def test_saves_that_fail_are_named_with_their_version(self) -> None:
        titles = ["good", "crash", "lasting"]
        saved = [stage_pb2.Saved(offer=Offer(id=title, version=3, title=title)) for title in titles]
        request = stage_pb2.OnSavedRequest(stage="silent", saved=saved)
        failures = self.client.call("OnSaved", request, stage_pb2.OnSavedResponse).failures
        seen = [(failed.id, failed.version, failed.failure.lasting) for failed in failures]
        self.assertEqual(seen, [("crash", 3, False), ("lasting", 3, True)])

    def test_a_stage_that_is_not_here_is_named_with_those_that_are(self) -> None:
        for call in [lambda: self.client.describe("other"), lambda: self.client.process("other", "good")]:
            self.assertEqual(self.refused(grpc.StatusCode.NOT_FOUND, call), "no stage 'other' here, only counting, silent")

    def test_nobody_is_served_without_the_token(self) -> None:
        for token in [None, "wrong", TOKEN + "x", "s\u00e9cret".encode("ascii", "replace").decode()]:
            client = self.connect(token)
            self.refused(grpc.StatusCode.UNAUTHENTICATED, lambda: client.describe("counting"))

    def test_a_message_over_the_limit_is_refused_and_the_next_is_served(self) -> None:
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.client.process("counting", "x" * 200_000))
        self.assertEqual(len(self.client.process("counting", "good")), 1)

    def test_health_needs_no_token(self) -> None:
        probe = self.connect(None)
        self.assertEqual([probe.health(""), probe.health("torg.stages.v1.StageService")], [1, 1])
        self.refused(grpc.StatusCode.NOT_FOUND, lambda: probe.health("other"))

    def test_a_watcher_of_health_hears_of_the_end(self) -> None:
        watch = self.connect(None).channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=Int32Value.FromString,
        )
        seen = watch(StringValue())
        self.assertEqual(next(seen).value, 1)
        stopping = threading.Thread(target=self.server.stop)
        stopping.start()
        self.assertEqual([status.value for status in seen], [2])
        stopping.join()

    def test_a_port_that_is_taken_is_an_error(self) -> None:
        with self.assertRaisesRegex(OSError, "cannot listen on 127.0.0.1:"):
            Server(Counting(), self.server.address)


class StopTest(unittest.TestCase):
    def test_a_call_that_runs_ends_before_the_server_does(self) -> None:
        begun, go_on = threading.Event(), threading.Event()

        class Slow(Stage):
            id = "slow"

            def process(self, subject: Subject) -> Answer:
                begun.set()
                go_on.wait()
                return Answer.untouched()

        server = Server(Slow(), "127.0.0.1:0")
        server.start()
        client = Client(server.address)
        self.addCleanup(client.channel.close)
        answers: list[Anything] = []
        calling = threading.Thread(target=lambda: answers.extend(client.process("slow", "a")))
        calling.start()
        begun.wait()
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        go_on.set()
        stopping.join()
        calling.join()
        self.assertEqual([answer.id for answer in answers], ["1"])

    def test_stages_without_an_id_with_a_wrong_one_or_with_the_same_are_refused(self) -> None:
        class Wrong(Stage):
            id = "no spaces"

        for stages in [[], [Stage()], [Wrong()], [Counting(), Counting()]]:
            with self.assertRaises(ValueError):
                Server(stages, "127.0.0.1:0")
