"""Run by `python3 -m unittest`. No Torg is needed."""

import unittest
from datetime import timedelta

from stage import FORGET_AFTER, PhoneNumbers
from torg_stages import Lasting, Offer, Wish, testing


class PhoneNumbersTest(unittest.TestCase):
    def test_a_phone_number_is_taken_out_of_a_title_and_counted(self) -> None:
        visited = testing.visit(PhoneNumbers(), Offer(title="Red bicycle +49 (30) 123-45-67 call me"))
        self.assertEqual(visited.offer.title, "Red bicycle call me")
        self.assertEqual(visited.state, {"times": 1, "last": testing.NOW.isoformat()})
        self.assertEqual(visited.visit_at, testing.NOW + FORGET_AFTER)

    def test_years_sizes_and_prices_are_no_phone_numbers(self) -> None:
        for title in ["Red bicycle, 28 inch, 2024", "Flat, 3 rooms, 120 m2, 1.200.000 EUR"]:
            self.assertEqual(testing.ask(PhoneNumbers(), Offer(title=title)), Wish.no())
            self.assertEqual(testing.visit(PhoneNumbers(), Offer(title=title)).changed, ())

    def test_a_title_of_nothing_else_fails(self) -> None:
        with self.assertRaises(Lasting):
            testing.visit(PhoneNumbers(), Offer(title="030 1234567"))

    def test_a_month_later_all_is_forgotten(self) -> None:
        first = testing.visit(PhoneNumbers(), Offer(title="Red bicycle 030 1234567"))
        early = testing.visit(PhoneNumbers(), first.offer, first.state, testing.NOW + timedelta(days=1))
        self.assertEqual(early.visit_at, first.visit_at)
        late = testing.visit(PhoneNumbers(), first.offer, first.state, first.visit_at)
        self.assertIsNone(late.state)
        self.assertIsNone(late.visit_at)

    def test_moderators_hear_of_the_third_time_once_it_is_saved(self) -> None:
        notices: list[str] = []
        stage = PhoneNumbers(notify=lambda key, text: notices.append(key))
        offer, state = Offer(title="Red bicycle"), None
        for _ in range(3):
            offer.title += " 030 1234567"
            visited = testing.visit(stage, offer, state)
            offer, state = visited.offer, visited.state
            self.assertEqual(notices, [])
            testing.saved(stage, visited)
        self.assertEqual(notices, [f"{testing.ID}-4"])


if __name__ == "__main__":
    unittest.main()
