"""`torg.stages.v1.StageService` over stages: a failure for one offer affects only that offer."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any as Anything
from typing import TypeVar

import grpc

from torg_stages.answer import Answer, Wish
from torg_stages.errors import Failed, failure
from torg_stages.proto import stage_pb2
from torg_stages.stage import Saved, Stage, Subject
from torg_stages.values import moment

SERVICE = "torg.stages.v1.StageService"
ID = re.compile(r"[A-Za-z0-9_-]+")

log = logging.getLogger("torg_stages")
T = TypeVar("T")


class StageService:
    """The methods of the contract. Calls name their stage."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        for stage in stages:
            if not isinstance(getattr(stage, "id", None), str) or not ID.fullmatch(stage.id):
                raise ValueError(f"{type(stage).__name__}: its id has to be letters, digits, - and _")
        self.stages = {stage.id: stage for stage in stages}
        if not stages or len(self.stages) != len(stages):
            raise ValueError("give one stage at least, and no two with the same id")

    def describe(self, request: stage_pb2.DescribeRequest, context: grpc.ServicerContext) -> stage_pb2.DescribeResponse:
        return self._stage(request.stage, context).describe()

    def should_process(
        self, request: stage_pb2.ShouldProcessRequest, context: grpc.ServicerContext
    ) -> stage_pb2.ShouldProcessResponse:
        stage = self._stage(request.stage, context)
        wishes = (wish(stage, subject) for subject in _subjects(request, context))
        return stage_pb2.ShouldProcessResponse(wishes=wishes)

    def process(self, request: stage_pb2.ProcessRequest, context: grpc.ServicerContext) -> stage_pb2.ProcessResponse:
        stage = self._stage(request.stage, context)
        answers = (answer(stage, subject) for subject in _subjects(request, context))
        return stage_pb2.ProcessResponse(answers=answers)

    def on_saved(self, request: stage_pb2.OnSavedRequest, context: grpc.ServicerContext) -> stage_pb2.OnSavedResponse:
        stage = self._stage(request.stage, context)
        failures = (tell(stage, _saved(saved)) for saved in _while_wanted(request.saved, context))
        return stage_pb2.OnSavedResponse(failures=(failed for failed in failures if failed is not None))

    def handler(self) -> grpc.GenericRpcHandler:
        """For a gRPC server."""
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Describe": _method(self.describe, stage_pb2.DescribeRequest),
                "ShouldProcess": _method(self.should_process, stage_pb2.ShouldProcessRequest),
                "Process": _method(self.process, stage_pb2.ProcessRequest),
                "OnSaved": _method(self.on_saved, stage_pb2.OnSavedRequest),
            },
        )

    def _stage(self, id: str, context: grpc.ServicerContext) -> Stage:
        stage = self.stages.get(id)
        if stage is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no stage {id!r} here, only {', '.join(sorted(self.stages))}")
        return stage


def wish(stage: Stage, subject: Subject) -> stage_pb2.Wish:
    """The schedule of a stage, or its failure."""
    try:
        return _expect(Wish, stage.should_process(subject), "should_process").to_proto(subject.offer)
    except Exception as error:
        return stage_pb2.Wish(id=subject.offer.id, failure=_noted(error, stage, "should_process", subject.offer.id))


def answer(stage: Stage, subject: Subject) -> stage_pb2.Answer:
    """The answer of a visit, or its failure."""
    offer = subject.offer
    try:
        return _expect(Answer, stage.process(subject), "process").to_proto(offer, subject.now)
    except Exception as error:
        failed = _noted(error, stage, "process", offer.id)
        return stage_pb2.Answer(id=offer.id, version=offer.version, failure=failed)


def tell(stage: Stage, saved: Saved) -> stage_pb2.SavedFailure | None:
    """Calls `on_saved`; returns None on success."""
    offer = saved.offer
    try:
        stage.on_saved(saved)
        return None
    except Exception as error:
        failed = _noted(error, stage, "on_saved", offer.id)
        return stage_pb2.SavedFailure(id=offer.id, version=offer.version, failure=failed)


def _expect(kind: type[T], value: object, method: str) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{method}() has to return a {kind.__name__}, not {value!r}")
    return value


def _noted(error: Exception, stage: Stage, method: str, id: str) -> stage_pb2.Failure:
    """Logs unexpected exceptions with their traceback; Torg shows the intended ones."""
    if not isinstance(error, Failed):
        log.error("%s.%s failed for offer %s", stage.id, method, id, exc_info=error)
    return failure(error)


def _subjects(
    request: stage_pb2.ShouldProcessRequest | stage_pb2.ProcessRequest, context: grpc.ServicerContext
) -> Iterator[Subject]:
    now = moment(request.now)
    for shown in _while_wanted(request.subjects, context):
        yield Subject(shown.offer, shown.state if shown.HasField("state") else None, now)


def _saved(saved: stage_pb2.Saved) -> Saved:
    return Saved(saved.offer, saved.state if saved.HasField("state") else None)


def _while_wanted(items: Sequence[T], context: grpc.ServicerContext) -> Iterator[T]:
    """Stops when the caller has given up."""
    for item in items:
        if not context.is_active():
            return
        yield item


def _method(function: Callable[..., Anything], request: Anything) -> grpc.RpcMethodHandler:
    return grpc.unary_unary_rpc_method_handler(
        function,
        request_deserializer=request.FromString,
        response_serializer=lambda response: response.SerializeToString(),
    )
