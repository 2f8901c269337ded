"""Between Python's values and those of the contract."""

from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any as Anything
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from torg_stages.proto.offer_pb2 import Money, Price

MICROS = 1_000_000

# What a stage may keep: values as in JSON by name, or a message of its own.
State = Mapping[str, Anything] | Message
M = TypeVar("M", bound=Message)


def timestamp(moment: datetime) -> Timestamp:
    """A time for Torg. It must have a time zone."""
    if moment.utcoffset() is None:
        raise ValueError(f"{moment.isoformat()} has no time zone: use datetime(..., tzinfo=timezone.utc) or subject.now")
    made = Timestamp()
    made.FromDatetime(moment.astimezone(timezone.utc))
    return made


def moment(stamp: Timestamp) -> datetime:
    """A moment of Torg, in UTC."""
    return stamp.ToDatetime(tzinfo=timezone.utc)


def pack(state: State) -> Any:
    """A state as Torg keeps it. In a mapping, numbers are floating-point: whole ones are exact up to 2^53."""
    packed = Any()
    if isinstance(state, Any):
        packed.CopyFrom(state)
        return packed
    if not isinstance(state, Message):
        values = Struct()
        values.update(dict(state))
        state = values
    # In a fixed order: the same state is the same bytes.
    packed.Pack(state, deterministic=True)
    return packed


def unpack(packed: Any | None, kind: type[M]) -> M | None:
    """A state as a message of this type; None if there is no state."""
    if packed is None:
        return None
    message = kind()
    if not packed.Unpack(message):
        raise TypeError(f"the state is a {packed.TypeName() or 'message without a type'}, not a {kind.DESCRIPTOR.full_name}")
    return message


def unpack_dict(packed: Any | None) -> dict[str, Anything] | None:
    """A state that was a mapping; None if there is no state."""
    values = unpack(packed, Struct)
    return None if values is None else _whole(json_format.MessageToDict(values))


def _whole(value: Anything) -> Anything:
    """Numbers that are whole as such: 3, not 3.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def money(amount: Decimal | int | str, currency: str) -> Money:
    """`money("12.50", "EUR")`. No floats: they cannot say 12.10."""
    micros = Decimal(amount) * MICROS
    if isinstance(amount, float) or micros != int(micros):
        raise ValueError(f"{amount!r} is no amount in millionths: give a Decimal, a whole number or a text")
    return Money(micros=int(micros), currency=currency)


def fixed_price(amount: Decimal | int | str, currency: str) -> Price:
    """`fixed_price("12.50", "EUR")`."""
    return Price(fixed=money(amount, currency))
