"""Visits without a Torg: for the unit tests of a stage.

    visited = testing.visit(MyStage(), Offer(title="RED BICYCLE"))
    assert visited.offer.title == "Red bicycle"
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any as Anything

from google.protobuf.any_pb2 import Any

from torg_stages import patch
from torg_stages.answer import Wish
from torg_stages.proto import stage_pb2
from torg_stages.proto.offer_pb2 import Offer
from torg_stages.stage import Saved, Stage, Subject
from torg_stages.values import M, State, moment, pack, unpack, unpack_dict

# When visits of tests are made unless they say otherwise.
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=timezone.utc)
# The id of an offer of a test that has none.
ID = "4829175033168090"


@dataclass(frozen=True)
class Visited:
    """What is there after a visit was saved."""

    # As it was changed; with its next version if it was.
    offer: Offer
    # The fields that a patch has set: `title`, `attributes.colour`.
    changed: tuple[str, ...]
    packed_state: Any | None
    visit_at: datetime | None
    # As Torg gets it.
    answer: stage_pb2.Answer

    @property
    def state(self) -> dict[str, Anything] | None:
        """The private state from now on, if it is a mapping."""
        return unpack_dict(self.packed_state)

    def state_as(self, kind: type[M]) -> M | None:
        """The private state from now on, if it is a message of this type."""
        return unpack(self.packed_state, kind)


def ask(stage: Stage, offer: Offer, state: State | None = None, now: datetime = NOW) -> Wish:
    """What `should_process` says about an offer."""
    return stage.should_process(_subject(offer, state, now))


def visit(stage: Stage, offer: Offer, state: State | None = None, now: datetime = NOW) -> Visited:
    """Visits an offer, as Torg would. What the stage raises comes through.

    Visits twice, and fails if the answers differ or the stage changes what it is shown: a visit must be repeatable.
    Fails as well if the stage sets a field that it does not name in `sets`.
    """
    subject = _subject(offer, state, now)
    answer = _answer(stage, subject)
    assert answer == _answer(stage, _subject(offer, state, now)), "the same visit came to two different answers"
    changed = tuple(answer.patch.fields.paths)
    for field in changed:
        assert _covered(field, stage.sets), f"{stage.id} sets {field}, which is not in its `sets`"
    return Visited(
        offer=_changed(subject.offer, answer),
        changed=changed,
        packed_state=_state_after(subject, answer),
        visit_at=moment(answer.visit_at) if answer.HasField("visit_at") else None,
        answer=answer,
    )


def saved(stage: Stage, visited: Visited) -> None:
    """Tells the stage that the outcome of a visit was saved. What it raises comes through."""
    stage.on_saved(Saved(visited.offer, visited.packed_state))


def _subject(offer: Offer, state: State | None, now: datetime) -> Subject:
    shown = Offer()
    shown.CopyFrom(offer)
    shown.id = shown.id or ID
    shown.version = shown.version or 1
    return Subject(shown, None if state is None else pack(state), now)


def _answer(stage: Stage, subject: Subject) -> stage_pb2.Answer:
    before = subject.offer.SerializeToString(deterministic=True)
    answer = stage.process(subject)
    assert before == subject.offer.SerializeToString(deterministic=True), "the stage changed the offer that it was shown"
    return answer.to_proto(subject.offer, subject.now)


def _changed(offer: Offer, answer: stage_pb2.Answer) -> Offer:
    kind = answer.WhichOneof("change")
    if kind is None:
        return offer
    changed = patch.apply(answer.patch, offer) if kind == "patch" else Offer.FromString(answer.replace.SerializeToString())
    changed.version = offer.version + 1
    return changed


def _state_after(subject: Subject, answer: stage_pb2.Answer) -> Any | None:
    if answer.clear_state:
        return None
    return answer.state if answer.HasField("state") else subject.packed_state


def _covered(field: str, allowed: tuple[str, ...] | list[str]) -> bool:
    return any(field == name or field.startswith(f"{name}.") for name in allowed)
