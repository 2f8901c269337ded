"""The tasks that are measured: the same as those of `torg-bench tasks`."""

import dagster as dg

TASKS_A_PARAMETER = 5

# Conditions of Dagster that set a task going when one of its parameters has changed.
# eager: what its documentation recommends for that. It does not start a task that is at work, or whose inputs are.
# any_deps_updated: only the part of eager that looks for changes; cheaper, but it requests a task also while that is at work.
CONDITIONS = {
    "eager": dg.AutomationCondition.eager,
    "any_deps_updated": dg.AutomationCondition.any_deps_updated,
}


def reads(task, parameters):
    """The parameters that a task reads, in order and without doubles.

    This is the only place with this rule; `torg-bench tasks` uses the same. When the number of parameters can be divided by
    four, the three are never equal.
    """
    return sorted({number % parameters for number in (task, task * 7 + 1, task * 13 + 2)})


def parameter_name(number):
    return f"parameter_{number}"


def task_name(number):
    return f"task_{number}"


def definitions(tasks, parameters, condition):
    """Parameters are changed from outside, so that they are assets which Dagster does not make itself."""
    outside = [dg.AssetSpec(parameter_name(number)) for number in range(parameters)]
    made = [task(task_name(n), map(parameter_name, reads(n, parameters)), condition()) for n in range(tasks)]
    return dg.Definitions(assets=outside + made)


def task(name, inputs, condition, work=lambda: None):
    """An asset whose run does this work."""

    @dg.asset(name=name, deps=list(inputs), automation_condition=condition)
    def made():
        work()

    return made
