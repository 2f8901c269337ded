"""Answers, patches and states."""

import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from google.protobuf.duration_pb2 import Duration

from torg_stages import Answer, Money, Offer, Price, Values, Wish, fixed_price, money
from torg_stages import patch
from torg_stages.proto import stage_pb2
from torg_stages.values import moment, pack, timestamp, unpack, unpack_dict

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
OFFER = Offer(id="1", version=7)


class PatchTest(unittest.TestCase):
    def test_a_patch_names_its_fields_and_only_the_attributes_that_it_is_given(self) -> None:
        made = patch.build({"title": "a", "price": Price(free=Price.Free()), "attributes": {"colour": "red", "size": None}})
        self.assertEqual(list(made.fields.paths), ["title", "price", "attributes.colour", "attributes.size"])
        self.assertEqual(made.values.title, "a")
        self.assertEqual(made.values.price.WhichOneof("kind"), "free")
        self.assertEqual(dict(made.values.attributes), {"colour": Values(values=["red"])})

    def test_attributes_take_texts_numbers_booleans_and_lists(self) -> None:
        made = patch.build({"attributes": {"a": 12, "b": True, "c": ["x", "y"], "d": Values(values=["z"])}})
        values = {name: list(value.values) for name, value in made.values.attributes.items()}
        self.assertEqual(values, {"a": ["12"], "b": ["true"], "c": ["x", "y"], "d": ["z"]})

    def test_moments_lists_numbers_and_empty_messages_can_be_set(self) -> None:
        made = patch.build({"expire_warning_time": NOON, "photo_order": [1, 0], "condition": 2, "price": Price()})
        self.assertEqual(moment(made.values.expire_warning_time), NOON)
        self.assertEqual(list(made.values.photo_order), [1, 0])
        self.assertEqual(made.values.condition, 2)
        self.assertTrue(made.values.HasField("price"))

    def test_a_patch_of_nothing_and_of_a_field_that_offers_have_not_are_refused(self) -> None:
        for fields in [{}, {"colour": "red"}]:
            with self.assertRaises(TypeError):
                Answer.patch(**fields)

    def test_a_patch_is_applied_as_torg_would(self) -> None:
        offer = Offer(title="old", description="old", attributes={"a": Values(values=["1"]), "b": Values(values=["2"])})
        changed = patch.apply(patch.build({"title": "new", "description": None, "attributes": {"a": None, "c": 3}}), offer)
        self.assertEqual((changed.title, changed.description), ("new", ""))
        self.assertEqual({name: list(value.values) for name, value in changed.attributes.items()}, {"b": ["2"], "c": ["3"]})
        self.assertEqual(offer.title, "old")
        self.assertEqual(len(patch.apply(patch.build({"attributes": None}), offer).attributes), 0)


class AnswerTest(unittest.TestCase):
    def test_an_answer_carries_the_id_and_the_version_that_it_was_made_from(self) -> None:
        self.assertEqual(Answer.untouched().to_proto(OFFER, NOON), stage_pb2.Answer(id="1", version=7))

    def test_the_time_of_a_visit_is_a_moment_or_counted_from_now(self) -> None:
        hour = timedelta(hours=1)
        for answer in [Answer.untouched().visit_in(hour), Answer.untouched().visit_at(NOON + hour)]:
            self.assertEqual(moment(answer.to_proto(OFFER, NOON).visit_at), NOON + hour)

    def test_a_moment_without_a_time_zone_is_refused_where_it_is_written(self) -> None:
        with self.assertRaisesRegex(ValueError, "no time zone"):
            Answer.untouched().visit_at(datetime(2026, 1, 1))

    def test_the_last_word_about_the_state_counts(self) -> None:
        kept = Answer.untouched().without_state().with_state({"a": 1}).to_proto(OFFER, NOON)
        self.assertFalse(kept.clear_state)
        self.assertEqual(unpack_dict(kept.state), {"a": 1})
        gone = Answer.untouched().with_state({"a": 1}).without_state().to_proto(OFFER, NOON)
        self.assertTrue(gone.clear_state)
        self.assertFalse(gone.HasField("state"))

    def test_an_offer_can_be_replaced_whole(self) -> None:
        made = Answer.replace(Offer(id="1", title="new")).to_proto(OFFER, NOON)
        self.assertEqual((made.WhichOneof("change"), made.replace.title), ("replace", "new"))

    def test_wishes_are_no_now_or_at_a_time(self) -> None:
        kinds = [wish.to_proto(OFFER).WhichOneof("kind") for wish in [Wish.no(), Wish.now(), Wish.at(NOON)]]
        self.assertEqual(kinds, ["no", "now", "at"])


class StateTest(unittest.TestCase):
    def test_a_mapping_comes_back_as_it_was(self) -> None:
        state = {"times": 3, "share": 0.5, "names": ["a", None], "nested": {"yes": True}}
        packed = pack(state)
        self.assertEqual(packed.type_url, "type.googleapis.com/google.protobuf.Struct")
        self.assertEqual(unpack_dict(packed), state)
        self.assertIsInstance(unpack_dict(packed)["times"], int)

    def test_a_message_comes_back_as_its_type_and_as_no_other(self) -> None:
        packed = pack(Duration(seconds=5))
        self.assertEqual(unpack(packed, Duration), Duration(seconds=5))
        with self.assertRaisesRegex(TypeError, "google.protobuf.Duration, not a google.protobuf.Struct"):
            unpack_dict(packed)

    def test_no_state_is_none(self) -> None:
        self.assertIsNone(unpack(None, Duration))
        self.assertIsNone(unpack_dict(None))

    def test_moments_keep_their_microseconds(self) -> None:
        exact = NOON + timedelta(microseconds=123456)
        self.assertEqual(moment(timestamp(exact.astimezone(timezone(timedelta(hours=3))))), exact)


class MoneyTest(unittest.TestCase):
    def test_amounts_are_exact(self) -> None:
        for amount in ["12.10", Decimal("12.10")]:
            self.assertEqual(money(amount, "EUR"), Money(micros=12_100_000, currency="EUR"))
        self.assertEqual(fixed_price(5, "EUR").fixed.micros, 5_000_000)

    def test_floats_and_parts_of_millionths_are_refused(self) -> None:
        for amount in [12.5, "0.0000001"]:
            with self.assertRaises(ValueError):
                money(amount, "EUR")  # type: ignore[arg-type]
