"""How long Dagster takes to find out which tasks one change of a parameter sets going.

What is timed is Dagster's public `evaluate_automation_conditions`: it restores the cursor of the evaluation before, reads the
events from the instance, evaluates the conditions, and makes the next cursor. The daemon does the same in every tick, and then
stores the cursor and the evaluations and submits the runs, of which nothing is counted here. Nor is the pause between two ticks
counted, which is 30 seconds by default.
"""

import gc
import platform
import statistics
import time

import dagster as dg

import graph
import storage

# Which parameter changes; the last one where there are fewer.
CHANGED = 5


def measure(tasks, parameters, rounds, condition, data, say):
    """Rounds of one event each, evaluated for all tasks and for those that read the parameter, in turns."""
    definitions = graph.definitions(tasks, parameters, graph.CONDITIONS[condition])
    changed = min(CHANGED, parameters - 1)
    affected = {task for task in range(tasks) if changed in graph.reads(task, parameters)}
    with storage.instance(data) as instance:
        say(f"storing a first event of each of {tasks} tasks and {parameters} parameters")
        for name in map(graph.parameter_name, range(parameters)):
            storage.update(instance, name)
        for name in map(graph.task_name, range(tasks)):
            storage.update(instance, name)
        full = Evaluations(definitions, instance, tasks, None)
        limited = Evaluations(definitions, instance, tasks, [graph.task_name(task) for task in sorted(affected)])
        for evaluations in (full, limited):
            evaluations.next(expected=None)
            evaluations.next(expected=set())
        times = {"full": [], "limited": [], "idle": []}
        for number in range(1, rounds + 1):
            storage.update(instance, graph.parameter_name(changed))
            times["full"].append(full.next(expected=affected))
            times["limited"].append(limited.next(expected=affected))
            # A task that was requested just before would lose the next event (see lost_update.py), so that an evaluation without
            # an event comes between two rounds.
            times["idle"].append(full.next(expected=set()))
            limited.next(expected=set())
            say(f"round {number}: " + ", ".join(f"{what} {took[-1]:.0f} ms" for what, took in times.items()))
    return {
        "tasks": tasks,
        "parameters": parameters,
        "rounds": rounds,
        "condition": condition,
        **{f"{what}_ms": round(statistics.median(took), 1) for what, took in times.items()},
        "full_range_ms": [round(min(times["full"]), 1), round(max(times["full"]), 1)],
        "limited_range_ms": [round(min(times["limited"]), 1), round(max(times["limited"]), 1)],
        "requested": len(affected),
        "version": dg.__version__,
        "python": platform.python_version(),
    }


class Evaluations:
    """Evaluations of one selection of tasks, or of all, each going on where the one before ended."""

    def __init__(self, definitions, instance, tasks, names):
        self.definitions, self.instance, self.tasks = definitions, instance, tasks
        self.selection = None if names is None else dg.AssetSelection.assets(*names)
        self.cursor = None

    def next(self, expected):
        """Evaluates; in milliseconds. An error when not exactly the expected tasks are requested; None: whichever they are."""
        gc.collect()
        begin = time.perf_counter()
        result = dg.evaluate_automation_conditions(
            defs=self.definitions, instance=self.instance, asset_selection=self.selection, cursor=self.cursor
        )
        took = (time.perf_counter() - begin) * 1000
        self.cursor = result.cursor
        keys = {task: dg.AssetKey(graph.task_name(task)) for task in range(self.tasks)}
        requested = {task for task, key in keys.items() if result.get_num_requested(key) > 0}
        if expected is not None and (requested != expected or result.total_requested != len(expected)):
            raise RuntimeError(
                f"{result.total_requested} runs were requested instead of {len(expected)}; "
                f"missing tasks {sorted(expected - requested)}, tasks too many {sorted(requested - expected)}"
            )
        return took
