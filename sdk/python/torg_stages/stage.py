"""The base class of stages and its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any as Anything
from typing import ClassVar

from google.protobuf.any_pb2 import Any
from google.protobuf.field_mask_pb2 import FieldMask

from torg_stages.answer import Answer, Wish
from torg_stages.proto import stage_pb2
from torg_stages.proto.offer_pb2 import Offer
from torg_stages.values import M, unpack, unpack_dict


@dataclass(frozen=True)
class Interest:
    """The changes that trigger a stage."""

    # The fields whose change matters: `price`, `attributes`, `attributes.colour`. None: all fields.
    fields: Sequence[str] = ()
    # Further fields that the stage reads. A patch that was made while one of them changed is made again.
    inputs: Sequence[str] = ()


@dataclass(frozen=True)
class _Shown:
    """An offer with the private state of the stage."""

    offer: Offer
    packed_state: Any | None

    @property
    def state(self) -> dict[str, Anything] | None:
        """The private state, if it was saved as a mapping; None if there is none."""
        return unpack_dict(self.packed_state)

    def state_as(self, kind: type[M]) -> M | None:
        """The private state, if it was saved as a message of this type; None if there is none."""
        return unpack(self.packed_state, kind)


@dataclass(frozen=True)
class Subject(_Shown):
    """The input of a visit."""

    # What time it is by Torg's clock, in UTC. Use this instead of the machine's clock: then a visit can be repeated.
    now: datetime


@dataclass(frozen=True)
class Saved(_Shown):
    """A saved change of this stage: the offer and the state."""


class Stage:
    """Derive from this. All methods except `on_saved` must be pure: Torg may call them at any time, repeatedly, concurrently
    on several instances, and may discard answers. They are called by several threads."""

    # The id of the stage: letters, digits, `-` and `_`; it must never change.
    id: ClassVar[str]
    # Of your code, for people.
    version: ClassVar[str] = "0.1.0"
    interest: ClassVar[Interest] = Interest()
    # The fields that it sets. Torg must have been told that it may.
    sets: ClassVar[Sequence[str]] = ()

    def should_process(self, subject: Subject) -> Wish:
        """When to visit an offer that has changed. Called only if the stage defines it; other stages
        visit when one of their fields has changed. It should be fast."""
        return Wish.now()

    def process(self, subject: Subject) -> Answer:
        """Visits an offer. Raise `Passing` or `Lasting` if there is no answer."""
        raise NotImplementedError(f"{type(self).__name__} has no process()")

    def on_saved(self, saved: Saved) -> None:
        """Called after a change of this stage was saved: the place for side effects. Called at least once for each
        change, in the order of the offer's versions; `offer.id` and `offer.version` identify a repeated change."""

    def describe(self) -> stage_pb2.DescribeResponse:
        """The description for Torg."""
        interest = stage_pb2.Interest(
            fields=FieldMask(paths=self.interest.fields),
            inputs=FieldMask(paths=self.interest.inputs),
            ask=type(self).should_process is not Stage.should_process,
        )
        return stage_pb2.DescribeResponse(
            stage=self.id,
            version=self.version,
            interest=interest,
            wants_saved=type(self).on_saved is not Stage.on_saved,
            sets=FieldMask(paths=self.sets),
        )
