"""Answers of a stage. Answers are immutable: each method returns a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any as Anything

from google.protobuf.any_pb2 import Any

from torg_stages import patch as patches
from torg_stages.proto import stage_pb2
from torg_stages.proto.offer_pb2 import Offer
from torg_stages.values import State, pack, timestamp


@dataclass(frozen=True)
class Wish:
    """When a stage visits an offer that has changed."""

    _at: datetime | None = None
    _wanted: bool = True

    @staticmethod
    def no() -> Wish:
        """No visit for this change."""
        return Wish(_wanted=False)

    @staticmethod
    def now() -> Wish:
        """As soon as possible."""
        return Wish()

    @staticmethod
    def at(moment: datetime) -> Wish:
        """At this time, never earlier."""
        return Wish(_at=moment)

    def to_proto(self, offer: Offer) -> stage_pb2.Wish:
        """The message for Torg."""
        if not self._wanted:
            return stage_pb2.Wish(id=offer.id, no=stage_pb2.Wish.No())
        if self._at is None:
            return stage_pb2.Wish(id=offer.id, now=stage_pb2.Wish.Now())
        return stage_pb2.Wish(id=offer.id, at=timestamp(self._at))


@dataclass(frozen=True)
class Answer:
    """The result of a visit: the change of the offer, the private state, the next visit."""

    _patch: stage_pb2.Patch | None = None
    _replace: Offer | None = None
    _state: Any | None = None
    _clear_state: bool = False
    _visit: datetime | timedelta | None = None

    @staticmethod
    def untouched() -> Answer:
        """No change of the offer."""
        return Answer()

    @staticmethod
    def patch(**fields: Anything) -> Answer:
        """Some fields take new values: `Answer.patch(title="Red bicycle", video=None, attributes={"colour": "red"})`.

        None clears a field or an attribute. Of `attributes`, only those that are named are touched.
        """
        return Answer(_patch=patches.build(fields))

    @staticmethod
    def replace(offer: Offer) -> Answer:
        """Replaces the offer. Prefer a patch: it survives concurrent changes."""
        return Answer(_replace=offer)

    def with_state(self, state: State) -> Answer:
        """Sets the private state: named JSON values, or a message. Without it the state stays."""
        return replace(self, _state=pack(state), _clear_state=False)

    def without_state(self) -> Answer:
        """Deletes the private state."""
        return replace(self, _state=None, _clear_state=True)

    def visit_at(self, moment: datetime) -> Answer:
        """Schedules the next visit. Without it, only a change triggers one."""
        timestamp(moment)
        return replace(self, _visit=moment)

    def visit_in(self, time: timedelta) -> Answer:
        """Schedules the next visit after this time, from `subject.now`."""
        return replace(self, _visit=time)

    def to_proto(self, offer: Offer, now: datetime) -> stage_pb2.Answer:
        """The message for Torg about this version of the offer."""
        visit = now + self._visit if isinstance(self._visit, timedelta) else self._visit
        return stage_pb2.Answer(
            id=offer.id,
            version=offer.version,
            patch=self._patch,
            replace=self._replace,
            state=self._state,
            clear_state=self._clear_state,
            visit_at=None if visit is None else timestamp(visit),
        )
