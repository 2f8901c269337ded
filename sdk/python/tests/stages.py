"""Stages for the tests."""

from torg_stages import Answer, Interest, Lasting, Passing, Saved, Stage, Subject


class Counting(Stage):
    """Counts its visits; fails where the title says so."""

    id = "counting"
    version = "1.2.3"
    interest = Interest(fields=["title"], inputs=["price"])
    sets = ["description"]

    def process(self, subject: Subject) -> Answer:
        fail(subject.offer.title)
        times = (subject.state or {"times": 0})["times"] + 1
        return Answer.patch(description=f"seen {times} times").with_state({"times": times})


class Silent(Stage):
    """Answers with what is no answer."""

    id = "silent"

    def process(self, subject: Subject) -> Answer:
        return None  # type: ignore[return-value]

    def on_saved(self, saved: Saved) -> None:
        fail(saved.offer.title)


def fail(title: str) -> None:
    errors = {"passing": Passing("later"), "lasting": Lasting("never"), "crash": KeyError("colour"), "long": Passing("x" * 5000)}
    if title in errors:
        raise errors[title]
