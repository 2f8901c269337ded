"""Patches: new values for fields of an offer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any as Anything

from google.protobuf.message import Message

from torg_stages.proto.offer_pb2 import Offer, Values
from torg_stages.proto.stage_pb2 import Patch
from torg_stages.values import timestamp

ATTRIBUTES = "attributes"


def build(fields: Mapping[str, Anything]) -> Patch:
    """A patch of these fields. None clears a field; `attributes` is a mapping and changes only its attributes."""
    if not fields:
        raise TypeError("a patch of nothing: use Answer.untouched()")
    patch = Patch()
    for name, value in fields.items():
        if name not in Offer.DESCRIPTOR.fields_by_name:
            raise TypeError(f"an offer has no field {name!r}")
        if name == ATTRIBUTES:
            _set_attributes(patch, value)
            continue
        patch.fields.paths.append(name)
        if value is not None:
            _set(patch.values, name, value)
    return patch


def apply(patch: Patch, offer: Offer) -> Offer:
    """Applies a patch like Torg."""
    changed = Offer()
    changed.CopyFrom(offer)
    for path in patch.fields.paths:
        name, _, attribute = path.partition(".")
        if attribute:
            changed.attributes.pop(attribute, None)
            if attribute in patch.values.attributes:
                changed.attributes[attribute].CopyFrom(patch.values.attributes[attribute])
            continue
        # What is not set in `values` is cleared.
        changed.ClearField(name)
        only = Offer()
        only.CopyFrom(patch.values)
        for other, _ in patch.values.ListFields():
            if other.name != name:
                only.ClearField(other.name)
        changed.MergeFrom(only)
    return changed


def _set_attributes(patch: Patch, attributes: Mapping[str, Anything] | None) -> None:
    if attributes is None:
        patch.fields.paths.append(ATTRIBUTES)
        return
    for name, value in attributes.items():
        patch.fields.paths.append(f"{ATTRIBUTES}.{name}")
        if value is not None:
            patch.values.attributes[name].CopyFrom(_attribute(value))


def _attribute(value: Anything) -> Values:
    """`"red"`, `12`, `True`, a list of such, or Values."""
    if isinstance(value, Values):
        return value
    several = value if isinstance(value, (list, tuple)) else [value]
    return Values(values=[str(one).lower() if isinstance(one, bool) else str(one) for one in several])


def _set(offer: Offer, field: str, value: Anything) -> None:
    if isinstance(value, datetime):
        value = timestamp(value)
    if hasattr(getattr(offer, field), "extend"):
        getattr(offer, field).extend(value)
    elif isinstance(value, Message):
        # Also when it is empty: it is set, then.
        getattr(offer, field).SetInParent()
        getattr(offer, field).CopyFrom(value)
    else:
        setattr(offer, field, value)
