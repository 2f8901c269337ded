//! Messages about tasks.

use std::collections::BTreeSet;

use ctl::canonical;
use ctl::messages::value;
use planner::{Explanation, Regression};
use tasks::Listed;
use triggers::{Calendar, LeafVerdict, Parameter, Value};
use wire::torg::tasks::v1::{self as proto, explain_task_response as explained};

/// The row of a task in a list.
pub(super) fn summary(task: &Listed) -> proto::TaskSummary {
    let mut summary = proto::TaskSummary {
        name: task.entity.name.to_string(),
        task: Some(task.entity.to_message()).into(),
        gone: task.definition.is_none(),
        paused: task.paused,
        failing: task.failing,
        ..Default::default()
    };
    if let Some(definition) = &task.definition {
        summary.about.clone_from(&definition.about);
        summary.owner.clone_from(&definition.owner);
        summary.labels.clone_from(&definition.labels);
        summary.priority = definition.priority;
        summary.pool = definition.pool.clone().unwrap_or_default();
        summary.trigger = definition.trigger.to_string();
        summary.reads = names(definition.trigger.parameters());
        summary.sets = names(definition.outputs());
        definition.calendar.zone().iana_name().unwrap_or("UTC").clone_into(&mut summary.timezone);
    }
    summary
}

/// Canonical names, sorted, without duplicates.
fn names<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Vec<String> {
    let short = |name: &Parameter| canonical(name).map_or_else(|_| name.to_string(), |name| name.to_string());
    parameters.into_iter().map(short).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The explanation of a task.
pub(super) fn explanation(it: &Explanation, task: proto::TaskSummary) -> proto::ExplainTaskResponse {
    let leaves = it.verdict.iter().flat_map(|verdict| &verdict.leaves);
    proto::ExplainTaskResponse {
        task: Some(task).into(),
        text: it.to_string(),
        fires: it.verdict.as_ref().is_some_and(|verdict| verdict.fires),
        leaves: leaves.map(leaf).collect(),
        earliest: it.earliest.as_ref().map(|at| it.calendar.show(at).to_string()).unwrap_or_default(),
        blocked: it.blocked(),
        regressions: it.regressions.iter().map(|one| regression(one, &it.calendar)).collect(),
        ..Default::default()
    }
}

fn leaf(leaf: &LeafVerdict) -> explained::LeafExplained {
    let seen = |of: Option<Value>| of.map(value).into();
    explained::LeafExplained {
        path: leaf.path.to_string(),
        leaf: leaf.leaf.to_string(),
        parameter: leaf.leaf.of.to_string(),
        current: seen(leaf.current),
        remembered: seen(leaf.remembered),
        reference: seen(leaf.reference),
        difference: leaf.difference.map(|difference| difference.to_string()).unwrap_or_default(),
        threshold: leaf.threshold.to_string(),
        holds: leaf.holds,
        why: leaf.reason.to_string(),
        ..Default::default()
    }
}

fn regression(regression: &Regression, calendar: &Calendar) -> explained::Regression {
    explained::Regression {
        parameter: regression.parameter.to_string(),
        text: format!(
            "{} is {}, and {} is remembered",
            regression.parameter,
            calendar.show(&regression.current),
            calendar.show(&regression.remembered)
        ),
        commands: regression.fixes.iter().map(ToString::to_string).collect(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_once_in_order_and_without_the_usual_namespace() {
        let of = |name: &str| name.parse::<Parameter>().unwrap();
        let given = [of("sales.rows"), of("default/sales.rows"), of("dwh/sales.rows"), of("ads.rows")];
        assert_eq!(names(&given), ["ads.rows", "dwh/sales.rows", "sales.rows"]);
    }
}
