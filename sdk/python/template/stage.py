"""The stage `phone-numbers`: takes phone numbers out of titles, and tells moderators who keeps putting them there.

- It changes the offer: the title loses its phone number.
- It keeps a state beside the offer: how often that happened, and when it did last.
- It uses a timer: a month without a phone number, and all is forgotten.
- Its side effect, the notice to moderators, is in `on_saved`: there it happens only for what was really saved.
"""

import os
import re
import sys
from collections.abc import Callable
from datetime import datetime, timedelta

from torg_stages import Answer, Interest, Lasting, Saved, Stage, Subject, Wish, serve

# A plus or a zero, then digits with the usual signs between them: seven digits at least.
PHONE = re.compile(r"(?:\+\d|\b0)(?:[ ()/.-]{0,2}\d){6,}")
FORGET_AFTER = timedelta(days=30)
PATIENCE = 3


def print_notice(key: str, text: str) -> None:
    """Put your mail or your webhook here. A key that comes twice is the same notice. Called by several threads at once."""
    print(f"notice {key}: {text}\n", end="", flush=True)


class PhoneNumbers(Stage):
    id = "phone-numbers"
    version = "0.1.0"
    interest = Interest(fields=["title"])
    sets = ["title"]

    def __init__(self, notify: Callable[[str, str], None] = print_notice) -> None:
        self.notify = notify

    def should_process(self, subject: Subject) -> Wish:
        return Wish.now() if PHONE.search(subject.offer.title) else Wish.no()

    def process(self, subject: Subject) -> Answer:
        if not PHONE.search(subject.offer.title):
            return self.forget_in_time(subject)
        title = " ".join(PHONE.sub(" ", subject.offer.title).split())
        if not title:
            raise Lasting("the title is nothing but a phone number")
        times = (subject.state or {"times": 0})["times"] + 1
        state = {"times": times, "last": subject.now.isoformat()}
        return Answer.patch(title=title).with_state(state).visit_in(FORGET_AFTER)

    def forget_in_time(self, subject: Subject) -> Answer:
        if subject.state is None:
            return Answer.untouched()
        until = datetime.fromisoformat(subject.state["last"]) + FORGET_AFTER
        if subject.now >= until:
            return Answer.untouched().without_state()
        return Answer.untouched().visit_at(until)

    def on_saved(self, saved: Saved) -> None:
        times = (saved.state or {}).get("times", 0)
        if times >= PATIENCE:
            offer = saved.offer
            self.notify(f"{offer.id}-{offer.version}", f"a phone number in the title of {offer.id}, {times} times by now")


if __name__ == "__main__":
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7070"
    serve(PhoneNumbers(), address, token=os.environ.get("STAGE_TOKEN") or None)
