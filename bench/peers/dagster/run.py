"""Measures Dagster. `torg-bench tasks` calls it; the last line of its output is a JSON object.

    python run.py evaluate --tasks 1000 --parameters 200 --rounds 3 [--condition eager|any_deps_updated] [--data DIR]
    python run.py lost-update [--data DIR]

evaluate: one change of a parameter, then the evaluation of all tasks and that of the affected tasks, in milliseconds (medians).
lost-update: the sequence of events on which a task is not run for a change of its parameter.

The instance is persistent, as by default, in a folder of its own under --data that is gone afterwards. Exit 1, with the reason on
stderr, when Dagster does not do what is measured, for example requests other runs than it should.
"""

import argparse
import json
import logging
import signal
import sys
import tempfile
import warnings

# Dagster tells every step of a run, and which of its functions are young.
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import evaluate  # noqa: E402
import graph  # noqa: E402
import lost_update  # noqa: E402

TASKS_MAX = 100_000
ROUNDS_MAX = 1000


def say(text):
    print(f"dagster: {text}", file=sys.stderr, flush=True)


def count(largest):
    """A reader of whole numbers from one to the largest."""

    def read(text):
        number = int(text)
        if not 1 <= number <= largest:
            raise argparse.ArgumentTypeError(f"{number} is not between 1 and {largest}")
        return number

    return read


def arguments():
    parser = argparse.ArgumentParser(prog="run.py", description="Measures Dagster.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("evaluate", help="how long one change takes to be evaluated")
    one.add_argument("--tasks", type=count(TASKS_MAX), default=1000)
    one.add_argument("--parameters", type=count(TASKS_MAX), help="a fifth of the tasks when not given")
    one.add_argument("--rounds", type=count(ROUNDS_MAX), default=3)
    one.add_argument("--condition", choices=list(graph.CONDITIONS), default="eager")
    other = verbs.add_parser("lost-update", help="the events on which a change is lost")
    for verb in (one, other):
        verb.add_argument("--data", default=tempfile.gettempdir(), help="where the instance is kept while it is measured")
    given = parser.parse_args()
    if given.verb == "evaluate":
        given.parameters = given.parameters or max(1, given.tasks // graph.TASKS_A_PARAMETER)
        if given.parameters > given.tasks:
            parser.error("more parameters than tasks: some would not be read")
    return given


def main():
    given = arguments()
    # An orderly end, so that the instance's folder is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if given.verb == "evaluate":
            answer = evaluate.measure(
                given.tasks, given.parameters, given.rounds, given.condition, given.data, say
            )
        else:
            answer = lost_update.play_all(given.data)
    except (RuntimeError, OSError) as error:
        say(error)
        sys.exit(1)
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
