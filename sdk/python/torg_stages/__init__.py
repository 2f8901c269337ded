"""Stages for Torg: your own code that visits offers when they change, or at a time it chooses.

Derive from `Stage`, and hand it to `serve`:

    from torg_stages import Answer, Interest, Stage, Subject, serve

    class Shouting(Stage):
        id = "shouting"
        interest = Interest(fields=["title"])
        sets = ["title"]

        def process(self, subject: Subject) -> Answer:
            title = subject.offer.title
            return Answer.patch(title=title.capitalize()) if title.isupper() else Answer.untouched()

    serve(Shouting())

`torg_stages.testing` visits offers without a Torg, for unit tests. `StateClient` reads and changes the states of a stage
from outside.
"""

from torg_stages.answer import Answer, Wish
from torg_stages.errors import Failed, Lasting, Passing
from torg_stages.proto.offer_pb2 import Money, Offer, Price, Values
from torg_stages.server import Server, Tls, serve
from torg_stages.stage import Interest, Saved, Stage, Subject
from torg_stages.state_client import Contended, Kept, StateClient
from torg_stages.values import fixed_price, money

__all__ = [
    "Answer",
    "Contended",
    "Failed",
    "Interest",
    "Kept",
    "Lasting",
    "Money",
    "Offer",
    "Passing",
    "Price",
    "Saved",
    "Server",
    "Stage",
    "StateClient",
    "Subject",
    "Tls",
    "Values",
    "Wish",
    "fixed_price",
    "money",
    "serve",
]
