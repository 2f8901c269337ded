"""gRPC's health service, implemented here to avoid another dependency."""

import threading
from collections.abc import Iterator

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

SERVICE = "grpc.health.v1.Health"
SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3
# How often a watcher is looked after, should it have hung up.
WATCH_INTERVAL_S = 5.0
# Each of them holds a thread of the server.
WATCHERS_MAX = 2


class Health:
    """Serving until `stop`. Its messages have the same encoding as the wrappers of a string and of a number."""

    def __init__(self, services: set[str]) -> None:
        self._services = services | {"", SERVICE}
        self._stopped = threading.Event()
        self._watchers = threading.Semaphore(WATCHERS_MAX)

    def stop(self) -> None:
        """Not serving: notifies watchers and ends their calls."""
        self._stopped.set()

    def _status(self) -> Int32Value:
        return Int32Value(value=NOT_SERVING if self._stopped.is_set() else SERVING)

    def check(self, request: StringValue, context: grpc.ServicerContext) -> Int32Value:
        if request.value not in self._services:
            context.abort(grpc.StatusCode.NOT_FOUND, f"unknown service {request.value!r}")
        return self._status()

    def watch(self, request: StringValue, context: grpc.ServicerContext) -> Iterator[Int32Value]:
        if request.value not in self._services:
            yield Int32Value(value=SERVICE_UNKNOWN)
            return
        if not self._watchers.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{WATCHERS_MAX} watch already: use Check")
        try:
            yield self._status()
            while context.is_active() and not self._stopped.is_set():
                self._stopped.wait(WATCH_INTERVAL_S)
            if self._stopped.is_set():
                yield self._status()
        finally:
            self._watchers.release()

    def handler(self) -> grpc.GenericRpcHandler:
        """For a gRPC server."""
        coding = {
            "request_deserializer": StringValue.FromString,
            "response_serializer": Int32Value.SerializeToString,
        }
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Check": grpc.unary_unary_rpc_method_handler(self.check, **coding),
                "Watch": grpc.unary_stream_rpc_method_handler(self.watch, **coding),
            },
        )
