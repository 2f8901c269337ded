"""Visits without a Torg catch what a Torg would not forgive."""

import itertools
import unittest

from tests.stages import Counting
from torg_stages import Answer, Offer, Passing, Stage, Subject, testing


class Of(Stage):
    """A stage of one function."""

    id = "of"
    sets = ["title", "attributes"]

    def __init__(self, process) -> None:  # type: ignore[no-untyped-def]
        self.process = process


class VisitTest(unittest.TestCase):
    def test_a_visit_shows_what_becomes_of_the_offer_and_the_state(self) -> None:
        visited = testing.visit(Counting(), Offer(title="a", version=4), {"times": 2})
        self.assertEqual((visited.offer.description, visited.offer.version), ("seen 3 times", 5))
        self.assertEqual((visited.changed, visited.state, visited.visit_at), (("description",), {"times": 3}, None))

    def test_an_offer_that_is_not_touched_keeps_its_version_and_state(self) -> None:
        visited = testing.visit(Of(lambda subject: Answer.untouched()), Offer(version=4), {"a": 1})
        self.assertEqual((visited.offer.version, visited.changed, visited.state), (4, (), {"a": 1}))

    def test_errors_of_the_stage_come_through(self) -> None:
        with self.assertRaisesRegex(Passing, "later"):
            testing.visit(Counting(), Offer(title="passing"))

    def test_answers_that_depend_on_anything_else_are_caught(self) -> None:
        numbers = itertools.count()
        with self.assertRaisesRegex(AssertionError, "two different answers"):
            testing.visit(Of(lambda subject: Answer.patch(title=str(next(numbers)))), Offer())

    def test_a_stage_that_changes_what_it_is_shown_is_caught(self) -> None:
        def process(subject: Subject) -> Answer:
            subject.offer.title = "mine"
            return Answer.untouched()

        with self.assertRaisesRegex(AssertionError, "changed the offer that it was shown"):
            testing.visit(Of(process), Offer())

    def test_a_field_that_the_stage_does_not_name_is_caught(self) -> None:
        testing.visit(Of(lambda subject: Answer.patch(attributes={"colour": "red"})), Offer())
        with self.assertRaisesRegex(AssertionError, "of sets price"):
            testing.visit(Of(lambda subject: Answer.patch(price=None)), Offer())
