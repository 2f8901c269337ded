"""Run by `python3 -m unittest` in `sdk/python`. No Torg is needed."""

import unittest
from decimal import Decimal
from pathlib import Path

from examples.car_prices import BASIS, LOOK_AGAIN, SALES_MAX, Car, CarPrices, Sales
from torg_stages import Offer, Values, money, testing
from torg_stages.proto.offer_pb2 import PredictedPrice


def golf(year: int, kilometres: int) -> Car:
    return Car("volkswagen", "Golf", year, kilometres)


def offered(year: str = "2018", mileage: str = "100000", **others: str) -> Offer:
    said = {"car-make": "volkswagen", "vehicle-model": "GOLF", "year": year, "mileage": mileage, **others}
    attributes = {name: Values(values=[value]) for name, value in said.items() if value}
    return Offer(category="transport/cars", attributes=attributes)


SOLD = [(golf(2018, 100_000), Decimal(price)) for price in (9000, 10_000, 11_000, 12_000, 13_000)]


class CarPricesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stage = CarPrices(Sales(SOLD))

    def test_the_median_and_the_quartiles_of_such_cars_are_predicted(self) -> None:
        visited = testing.visit(self.stage, offered())
        predicted = visited.offer.predicted_price
        self.assertEqual(predicted.median, money(11_000, "EUR"))
        self.assertEqual((predicted.low, predicted.high), (money(10_000, "EUR"), money(12_000, "EUR")))
        self.assertEqual((predicted.count, predicted.confidence), (5, PredictedPrice.CONFIDENCE_MEDIUM))
        self.assertEqual(list(predicted.basis), BASIS)
        self.assertEqual(visited.visit_at, testing.NOW + LOOK_AGAIN)

    def test_what_is_predicted_already_is_not_set_again(self) -> None:
        first = testing.visit(self.stage, offered())
        again = testing.visit(self.stage, first.offer)
        self.assertEqual(again.changed, ())
        self.assertEqual(again.visit_at, testing.NOW + LOOK_AGAIN)

    def test_a_car_unlike_those_that_were_sold_has_no_price(self) -> None:
        for other in [offered(year="2002"), offered(mileage="300000"), offered(**{"vehicle-model": "Polo"}), offered(mileage="")]:
            self.assertEqual(testing.visit(self.stage, other).changed, ())

    def test_a_price_that_does_not_hold_any_more_is_cleared(self) -> None:
        predicted = testing.visit(self.stage, offered()).offer.predicted_price
        other = offered(year="2002")
        other.predicted_price.CopyFrom(predicted)
        visited = testing.visit(self.stage, other)
        self.assertEqual(visited.changed, ("predicted_price",))
        self.assertFalse(visited.offer.HasField("predicted_price"))

    def test_the_nearest_count_if_there_are_many(self) -> None:
        near = [(golf(2018, 100_000), Decimal(10_000))] * SALES_MAX
        far = [(golf(2016, 100_000), Decimal(1))] * SALES_MAX
        predicted = testing.visit(CarPrices(Sales(far + near)), offered()).offer.predicted_price
        self.assertEqual((predicted.low, predicted.count), (money(10_000, "EUR"), SALES_MAX))
        self.assertEqual(predicted.confidence, PredictedPrice.CONFIDENCE_HIGH)

    def test_other_offers_are_left_alone(self) -> None:
        flat = offered()
        flat.category = "real-estate/flats"
        visited = testing.visit(self.stage, flat)
        self.assertEqual((visited.changed, visited.visit_at), ((), None))

    def test_the_list_that_comes_with_it_can_be_read(self) -> None:
        sales = Sales.read(Path(__file__).with_name("car_sales.csv"))
        younger, older = (testing.visit(CarPrices(sales), offered(year, kilometres)).offer.predicted_price
                          for year, kilometres in [("2021", "60000"), ("2016", "140000")])
        self.assertGreater(younger.median.micros, older.median.micros)


if __name__ == "__main__":
    unittest.main()
