"""Sequences of events on which a task is not run for a change of its parameter, played on real runs.

One task reads the parameters a and b. a changes, an evaluation requests the task, the task runs. Then b changes: a run that
has ended, or has read b already, has not seen it, so that another must come. With `eager` it does not come when, since the
evaluation before, the task was requested or its run has ended: the change then counts as handled, whichever came first.
"""

import dagster as dg

import graph
import storage

# What happens, in order. "evaluate" requests runs; "run" does what was requested, if anything. A list is a run during which its steps
# happen.
SEQUENCES = {
    "b changes after the run, before the next evaluation": ["a", "evaluate", "run", "b"],
    "b changes after the run and an evaluation": ["a", "evaluate", "run", "evaluate", "b"],
    "b changes during the run, before the next evaluation": ["a", "evaluate", ["b", "evaluate"]],
    "b changes during the run, after an evaluation": ["a", "evaluate", ["evaluate", "b", "evaluate"]],
}
# The one that is put first, as the answer.
LOSING = ("eager", "b changes after the run, before the next evaluation")
# A change that is seen late is not lost: as many evaluations follow, each with its run.
EVALUATIONS_AFTER = 5
TASK = "task"


def play_all(data):
    """All sequences under all conditions; the one on which `eager` loses an update is the answer itself."""
    cases = [
        {"condition": condition, "sequence": sequence, **Play(condition, data).play(steps)}
        for condition in graph.CONDITIONS
        for sequence, steps in SEQUENCES.items()
    ]
    [losing] = [case for case in cases if (case["condition"], case["sequence"]) == LOSING]
    return {**losing, "cases": [case for case in cases if case is not losing], "version": dg.__version__}


class Play:
    """One task over two parameters, all of which have been there before."""

    def __init__(self, condition, data):
        self.data = data
        self.task = graph.task(TASK, ["a", "b"], graph.CONDITIONS[condition](), work=self.work)
        self.definitions = dg.Definitions(assets=[dg.AssetSpec("a"), dg.AssetSpec("b"), self.task])
        self.cursor = None
        self.events = []
        self.requested, self.waiting, self.at_once = 0, 0, 0
        self.running, self.during = False, []

    def play(self, steps):
        """`lost`: how many parameters have changed after the last run read them, though no run is still to come."""
        with storage.instance(self.data) as self.instance:
            for name in ("a", "b", TASK):
                storage.update(self.instance, name)
            for _ in range(2):
                self.evaluate()
            if self.requested > 0:
                raise RuntimeError("the task is requested before anything has changed")
            self.events.clear()
            for step in steps + ["evaluate", "run"] * EVALUATIONS_AFTER:
                self.step(step)
            if self.waiting > 0:
                raise RuntimeError("the task is requested again and again")
            lost = sum(storage.last_update(self.instance, name) > self.read[name] for name in ("a", "b"))
        return {
            "events": self.events,
            "runs_requested": self.requested,
            "requested_while_running": self.at_once,
            "lost": lost,
        }

    def step(self, step):
        if step == "evaluate":
            self.evaluate()
        elif step == "run":
            self.run([])
        elif isinstance(step, list):
            self.run(step)
        else:
            storage.update(self.instance, step)
            self.events.append(f"{step} changes")

    def evaluate(self):
        result = dg.evaluate_automation_conditions(defs=self.definitions, instance=self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        self.requested += result.total_requested
        self.waiting += result.total_requested
        self.at_once += result.total_requested if self.running else 0
        self.events.append(f"evaluation requests {result.total_requested}")

    def run(self, during):
        """A run of Dagster, if one was requested. The daemon would start it with the same job."""
        if self.waiting == 0:
            return
        self.waiting -= 1
        self.during = during
        if not dg.materialize([self.task], instance=self.instance).success:
            raise RuntimeError("the run failed")
        self.events.append("run ends")

    def work(self):
        """What the task does: it reads its parameters first, and then other things may happen while it works."""
        self.events.append("run begins")
        self.read = {name: storage.last_update(self.instance, name) for name in ("a", "b")}
        self.running = True
        for step in self.during:
            self.step(step)
        self.running = False
