"""What a stage answers. Answers are values: each method makes a new one."""

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
    """Whether a stage wants to visit an offer that has changed."""

    _at: datetime | None = None
    _wanted: bool = True

    @staticmethod
    def no() -> Wish:
        """Not because of this change."""
        return Wish(_wanted=False)

    @staticmethod
    def now() -> Wish:
        """As soon as possible."""
        return Wish()

    @staticmethod
    def at(moment: datetime) -> Wish:
        """Then, never earlier."""
        return Wish(_at=moment)

    def to_proto(self, offer: Offer) -> stage_pb2.Wish:
        """As Torg is told."""
        if not self._wanted:
            return stage_pb2.Wish(id=offer.id, no=stage_pb2.Wish.No())
        if self._at is None:
            return stage_pb2.Wish(id=offer.id, now=stage_pb2.Wish.Now())
        return stage_pb2.Wish(id=offer.id, at=timestamp(self._at))


@dataclass(frozen=True)
class Answer:
    """What a visit comes to: what becomes of the offer, of the stage's private state, and when it wants to come again."""

    _patch: stage_pb2.Patch | None = None
    _replace: Offer | None = None
    _state: Any | None = None
    _clear_state: bool = False
    _visit: datetime | timedelta | None = None

    @staticmethod
    def untouched() -> Answer:
        """The offer stays as it is."""
        return Answer()

    @staticmethod
    def patch(**fields: Anything) -> Answer:
        """Some fields take new values: `Answer.patch(title="Red bicycle", video=None, attributes={"colour": "red"})`.

        None clears a field or an attribute. Of `attributes`, only those that are named are touched.
        """
        return Answer(_patch=patches.build(fields))

    @staticmethod
    def replace(offer: Offer) -> Answer:
        """The offer becomes this. A patch is better: it survives what others change meanwhile."""
        return Answer(_replace=offer)

    def with_state(self, state: State) -> Answer:
        """The private state from now on: values as in JSON by name, or a message. Without this it stays as it is."""
        return replace(self, _state=pack(state), _clear_state=False)

    def without_state(self) -> Answer:
        """The private state goes."""
        return replace(self, _state=None, _clear_state=True)

    def visit_at(self, moment: datetime) -> Answer:
        """Come again then, whatever happens in between. Without this, only a change brings the stage back."""
        timestamp(moment)
        return replace(self, _visit=moment)

    def visit_in(self, time: timedelta) -> Answer:
        """Come again after this time, counted from `subject.now`."""
        return replace(self, _visit=time)

    def to_proto(self, offer: Offer, now: datetime) -> stage_pb2.Answer:
        """As Torg is told, about this version of this offer."""
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
