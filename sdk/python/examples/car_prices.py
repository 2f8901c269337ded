"""The stage `car-prices`: predicts what a car costs, from a dealer's own list of sales.

Torg's built-in stage `price` knows the offers that stand on the marketplace; this one knows what was really paid, which only its
owner does. That is what an outside stage is for.

- Of the sales of the same make and model it takes those that are nearest by year and mileage, and sets their median and quartiles
  as `predicted_price`; if there are too few, it sets nothing and clears what it set before.
- It is pure: the list is read once, at the start. The same offer gets the same answer.
- It uses a timer: what was predicted is looked at again after a month, for a stage that was restarted has a newer list.

    python3 car_prices.py [SALES.csv [HOST:PORT]]

Leave the built-in stage `price` out of `stages.built_in`, or the two will overwrite each other.
"""

from __future__ import annotations

import csv
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from statistics import quantiles

from torg_stages import Answer, Interest, Offer, Stage, Subject, money, serve
from torg_stages.proto.offer_pb2 import PredictedPrice

CATEGORY = "transport/cars"
LOOK_AGAIN = timedelta(days=30)
# As far apart as one year.
KILOMETRES_A_YEAR = 15_000
# Sales that are further away, in years, say nothing.
DISTANCE_MAX = 3.0
SALES_MIN = 4
SALES_MAX = 25
MANY = 12
CURRENCY = "EUR"
BASIS = ["category", "attributes.car-make", "attributes.vehicle-model", "attributes.year", "attributes.mileage"]


@dataclass(frozen=True)
class Car:
    """What a price depends on."""

    make: str
    model: str
    year: int
    kilometres: int

    @property
    def kind(self) -> tuple[str, str]:
        return self.make.casefold(), self.model.casefold()

    def distance(self, other: Car) -> float:
        """How different two cars of a kind are, in years."""
        return abs(self.year - other.year) + abs(self.kilometres - other.kilometres) / KILOMETRES_A_YEAR


class Sales:
    """Cars that were sold, and for how much."""

    def __init__(self, sold: Iterable[tuple[Car, Decimal]]) -> None:
        self._by_kind: dict[tuple[str, str], list[tuple[Car, Decimal]]] = defaultdict(list)
        for car, price in sold:
            self._by_kind[car.kind].append((car, price))

    @classmethod
    def read(cls, path: Path) -> Sales:
        """Reads a file with the columns make, model, year, kilometres and price."""
        with path.open(newline="", encoding="utf-8") as file:
            return cls(
                (Car(row["make"], row["model"], int(row["year"]), int(row["kilometres"])), Decimal(row["price"]))
                for row in csv.DictReader(file)
            )

    def nearest(self, car: Car) -> list[Decimal]:
        """The prices of the cars that are most like this one."""
        distances = ((car.distance(sold), price) for sold, price in self._by_kind.get(car.kind, []))
        near = sorted(pair for pair in distances if pair[0] <= DISTANCE_MAX)
        return [price for _, price in near[:SALES_MAX]]


def described(offer: Offer) -> Car | None:
    """The car of an offer, if it says all that is needed. The catalogue has checked the values."""
    values = {name: offer.attributes[name].values for name in ("car-make", "vehicle-model", "year", "mileage") if name in offer.attributes}
    if len(values) < 4 or not all(values.values()):
        return None
    make, model, year, mileage = (of[0] for of in values.values())
    return Car(make, model, int(year), int(mileage))


def whole(amount: Decimal | float) -> Decimal:
    return Decimal(amount).quantize(Decimal(1))


def prediction(prices: list[Decimal]) -> PredictedPrice | None:
    if len(prices) < SALES_MIN:
        return None
    low, median, high = (money(whole(amount), CURRENCY) for amount in quantiles(prices, n=4, method="inclusive"))
    confidence = PredictedPrice.CONFIDENCE_HIGH if len(prices) >= MANY else PredictedPrice.CONFIDENCE_MEDIUM
    return PredictedPrice(median=median, low=low, high=high, count=len(prices), confidence=confidence, basis=BASIS)


class CarPrices(Stage):
    id = "car-prices"
    version = "0.1.0"
    interest = Interest(fields=["category", "attributes"], inputs=["predicted_price"])
    sets = ["predicted_price"]

    def __init__(self, sales: Sales) -> None:
        self.sales = sales

    def process(self, subject: Subject) -> Answer:
        offer = subject.offer
        if offer.category != CATEGORY:
            return Answer.untouched()
        car = described(offer)
        predicted = prediction(self.sales.nearest(car)) if car else None
        known = offer.predicted_price if offer.HasField("predicted_price") else None
        answer = Answer.untouched() if predicted == known else Answer.patch(predicted_price=predicted)
        return answer.visit_in(LOOK_AGAIN)


if __name__ == "__main__":
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("car_sales.csv")
    address = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:7070"
    serve(CarPrices(Sales.read(Path(file))), address, token=os.environ.get("STAGE_TOKEN") or None)
