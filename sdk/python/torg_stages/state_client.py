"""Private states of stages, read and changed from outside: `torg.stages.v1.StateService`, which Torg serves."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any as Anything
from urllib.parse import urlsplit

import grpc
from google.protobuf.any_pb2 import Any

from torg_stages.proto import state_pb2
from torg_stages.values import M, State, pack, unpack, unpack_dict

SERVICE = "torg.stages.v1.StateService"
CALL_TIMEOUT_S = 30.0
UPDATE_ATTEMPTS_MAX = 10
# Before the second attempt; the pause doubles, and is cut by chance so that rivals do not keep step.
UPDATE_PAUSE_S = 0.02
UPDATE_PAUSE_S_MAX = 0.5


class Contended(Exception):
    """Concurrent changes of the state."""


@dataclass(frozen=True)
class Kept:
    """A state as it was read."""

    packed: Any | None
    # To be given to `set`; 0 if there never was a state.
    version: int

    @property
    def state(self) -> dict[str, Anything] | None:
        """The state, if it was saved as a mapping; None if there is none."""
        return unpack_dict(self.packed)

    def state_as(self, kind: type[M]) -> M | None:
        """The state, if it was saved as a message of this type; None if there is none."""
        return unpack(self.packed, kind)


class StateClient:
    """`StateClient("http://127.0.0.1:8080", token)`. Errors are those of gRPC. Usable by several threads."""

    def __init__(
        self, server: str, token: str | None = None, *, ca_file: str | Path | None = None, timeout_s: float = CALL_TIMEOUT_S
    ) -> None:
        self._channel = _channel(server, ca_file)
        self._metadata = [] if token is None else [("authorization", f"Bearer {token}")]
        self._timeout_s = timeout_s
        self._get = self._method("GetState", state_pb2.GetStateRequest, state_pb2.GetStateResponse)
        self._set = self._method("SetState", state_pb2.SetStateRequest, state_pb2.SetStateResponse)

    def get(self, stage: str, id: str) -> Kept:
        """The state that a stage keeps beside an offer."""
        got = self._get(state_pb2.GetStateRequest(stage=stage, id=id))
        return Kept(got.state if got.HasField("state") else None, got.version)

    def set(self, stage: str, id: str, state: State | None, version: int, *, visit: bool = False) -> bool:
        """Replaces a state (None: it goes) if it still has this version; False if it has not: read and decide again.

        `visit` has the stage visit the offer as soon as possible, with the new state.
        """
        packed = None if state is None else pack(state)
        request = state_pb2.SetStateRequest(stage=stage, id=id, state=packed, version=version, visit=visit)
        try:
            self._set(request)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.ABORTED:
                return False
            raise
        return True

    def update(self, stage: str, id: str, change: Callable[[Kept], State | None], *, visit: bool = False) -> State | None:
        """Reads, has `change` make the new state from what is kept, and sets it; again if others were quicker.

        `change` may be called several times. `Contended` after ten attempts.
        """
        pause_s = UPDATE_PAUSE_S
        for _ in range(UPDATE_ATTEMPTS_MAX):
            kept = self.get(stage, id)
            state = change(kept)
            if self.set(stage, id, state, kept.version, visit=visit):
                return state
            time.sleep(random.uniform(0, pause_s))
            pause_s = min(2 * pause_s, UPDATE_PAUSE_S_MAX)
        raise Contended(f"the state of {stage} beside {id} was changed by others {UPDATE_ATTEMPTS_MAX} times")

    def close(self) -> None:
        """Hangs up."""
        self._channel.close()

    def __enter__(self) -> StateClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _method(self, name: str, request: Anything, response: Anything) -> Callable[[Anything], Anything]:
        method = self._channel.unary_unary(
            f"/{SERVICE}/{name}", request_serializer=request.SerializeToString, response_deserializer=response.FromString
        )
        return lambda message: method(message, metadata=self._metadata, timeout=self._timeout_s)


def _channel(server: str, ca_file: str | Path | None) -> grpc.Channel:
    url = urlsplit(server)
    if url.scheme not in ("http", "https") or not url.hostname or url.path not in ("", "/"):
        raise ValueError(f"{server!r} is no address of a server: http://127.0.0.1:8080, https://torg.example")
    if url.scheme == "http":
        return grpc.insecure_channel(url.netloc if url.port else f"{url.netloc}:80")
    authorities = Path(ca_file).read_bytes() if ca_file else None
    return grpc.secure_channel(url.netloc if url.port else f"{url.netloc}:443", grpc.ssl_channel_credentials(authorities))
