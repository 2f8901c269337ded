"""Serves stages to Torg, by gRPC."""

import hmac
import logging
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any as Anything

import grpc

from torg_stages import health, service
from torg_stages.stage import Stage

ADDRESS = "127.0.0.1:7070"
WORKERS = 16
MESSAGE_BYTES_MAX = 16 << 20
# How long calls that run may take to end when the server stops.
GRACE_S = 10.0
LOOPBACK = ("127.", "localhost:", "[::1]:", "unix:")

log = logging.getLogger("torg_stages")


@dataclass(frozen=True)
class Tls:
    """PEM files. With `client_ca`, clients need a certificate of that authority."""

    certificate: str | Path
    key: str | Path
    client_ca: str | Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        authorities = Path(self.client_ca).read_bytes() if self.client_ca else None
        pair = (Path(self.key).read_bytes(), Path(self.certificate).read_bytes())
        return grpc.ssl_server_credentials([pair], authorities, require_client_auth=authorities is not None)


class Server:
    """Serves stages on one port, from `start` to `stop`. `serve` does both and waits for a signal."""

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        address: str = ADDRESS,
        *,
        token: str | None = None,
        tls: Tls | None = None,
        workers: int = WORKERS,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
    ) -> None:
        stages = [stages] if isinstance(stages, Stage) else list(stages)
        if token is not None and not token:
            raise ValueError("an empty token: leave it out, or say one")
        self._health = health.Health({service.SERVICE})
        options = [
            ("grpc.max_receive_message_length", message_bytes_max),
            ("grpc.max_send_message_length", message_bytes_max),
            # Two servers on one port would each get some of the calls.
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(
            ThreadPoolExecutor(workers + health.WATCHERS_MAX, thread_name_prefix="stage"),
            handlers=[service.StageService(stages).handler(), self._health.handler()],
            interceptors=[] if token is None else [_TokenCheck(token)],
            options=options,
        )
        self.address = self._listen(address, tls)
        if token is None and not address.startswith(LOOPBACK):
            log.warning("%s is public and no token is set", address)

    def start(self) -> None:
        """Starts serving in its own threads."""
        self._server.start()

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Stops accepting calls and lets running ones finish within the grace period."""
        self._health.stop()
        self._server.stop(grace_s).wait()

    def _listen(self, address: str, tls: Tls | None) -> str:
        try:
            if tls is None:
                port = self._server.add_insecure_port(address)
            else:
                port = self._server.add_secure_port(address, tls.credentials())
        except RuntimeError as error:
            raise OSError(f"cannot listen on {address}: {error}") from error
        if port == 0:
            raise OSError(f"cannot listen on {address}: another process has this port, or it is no address")
        return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


def serve(stages: Stage | Sequence[Stage], address: str = ADDRESS, *, grace_s: float = GRACE_S, **options: Anything) -> None:
    """Serves until SIGTERM or SIGINT (Ctrl-C), then lets running calls end. Prints `listening on HOST:PORT`; port 0 takes
    any that is free.

    `options` are those of `Server`: token, tls, workers, message_bytes_max.
    """
    if not logging.getLogger().handlers:
        logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    server = Server(stages, address, **options)
    server.start()
    print(f"listening on {server.address}", flush=True)
    stopping.wait()
    server.stop(grace_s)


class _TokenCheck(grpc.ServerInterceptor):  # type: ignore[misc]
    """Admits calls with the token, and health probes."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler],
        details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler:
        shown = [value for name, value in details.invocation_metadata if name == "authorization"]
        if details.method.startswith(f"/{health.SERVICE}/") or self._right(shown):
            return continuation(details)
        return grpc.unary_unary_rpc_method_handler(_refuse)

    def _right(self, shown: Sequence[str]) -> bool:
        # In a time that does not depend on how much of it is right.
        return len(shown) == 1 and hmac.compare_digest(shown[0].encode(), self._expected)


def _refuse(request: bytes, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "this needs the stage's token: authorization: Bearer ...")
