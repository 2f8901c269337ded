//! Formats tasks as text.

use std::collections::BTreeMap;

use wire::torg::tasks::v1::{self as proto, SeenValue, cause, task_run, task_state};

use crate::ctl::words::value;
use terminal::{cut, moment_in_table as moment, one_line, state as paint_state, table};

/// Characters of an error in a table on a terminal.
const ERROR_CHARS_MAX: usize = 120;

pub(super) fn tasks(tasks: &[proto::TaskSummary]) -> Vec<String> {
    let head = ["TASK", "STANDING", "LAST SUCCESS", "RUNS", "PRIORITY", "POOL", "NOTE"].map(str::to_owned);
    let rows = tasks.iter().map(|task| {
        let state = state(task);
        [
            task.name.clone(),
            paint_state(&standing(task, &state)),
            moment(state.last_success_time.as_option()),
            state.runs.to_string(),
            task.priority.to_string(),
            task.pool.clone(),
            notes(task, &state).iter().map(|note| paint_state(note)).collect::<Vec<_>>().join("; "),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn state(task: &proto::TaskSummary) -> proto::TaskState {
    task.task.as_option().and_then(|task| task.state.as_option()).cloned().unwrap_or_default()
}

fn standing(task: &proto::TaskSummary, state: &proto::TaskState) -> String {
    use task_state::Phase;
    match &state.phase {
        Some(Phase::Running(running)) => {
            format!("run {} since {}", running.run, moment(running.since.as_option()))
        }
        _ if task.gone => "gone".to_owned(),
        None => "idle".to_owned(),
        Some(Phase::Queued(queued)) => format!("queued since {}", moment(queued.since.as_option())),
        Some(Phase::Waiting(waiting)) => format!("waits until {}", moment(waiting.until.as_option())),
        Some(Phase::Resting(resting)) => format!("rests since {}", moment(resting.since.as_option())),
    }
}

/// Conditions that need attention.
fn notes(task: &proto::TaskSummary, state: &proto::TaskState) -> Vec<String> {
    let mut notes = Vec::new();
    if task.paused && !task.gone {
        let by = state.paused.as_option().map(|signed| format!("paused by {}", signed.by));
        notes.push(by.unwrap_or_else(|| "paused by its definition".to_owned()));
    }
    if task.failing {
        notes.push(format!("failing ({} attempts)", state.attempts));
    }
    if !state.regressed.is_empty() && !task.gone {
        let names: Vec<&str> = state.regressed.keys().map(|name| &**name).collect();
        notes.push(format!("regressed: {}", names.join(", ")));
    }
    if state.silent_time.is_set() && !task.gone {
        notes.push("silent for too long".to_owned());
    }
    if let Some(backfill) = state.backfill.as_option() {
        let stopped = if backfill.stopped.is_some() { ", stopped" } else { "" };
        notes.push(format!("backfill: {} done{stopped}", backfill.done));
    }
    notes
}

/// Running items first, then waiting ones.
pub(super) fn queue(queue: &proto::GetQueueResponse) -> Vec<String> {
    let plural = |count: u64| if count == 1 { " waits" } else { "s wait" };
    let mut lines = vec![format!(
        "{} of {} places are taken, {} task{}",
        queue.running_count,
        queue.running_max,
        queue.waiting_count,
        plural(queue.waiting_count)
    )];
    if !queue.running.is_empty() {
        let head = ["RUNNING", "RUN", "SINCE", "POOL", "WHY"].map(str::to_owned);
        let rows = queue.running.iter().map(|running| {
            [
                running.task.clone(),
                running.run.to_string(),
                moment(running.since.as_option()),
                running.pool.clone(),
                why(running.cause.as_option()),
            ]
        });
        lines.push(String::new());
        lines.extend(table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
    }
    if !queue.waiting.is_empty() {
        let head = ["WAITING", "PRIORITY", "POOL", "SINCE", "WHY", "NOT STARTED BECAUSE"].map(str::to_owned);
        let rows = queue.waiting.iter().map(|waiting| {
            [
                waiting.task.clone(),
                waiting.priority.to_string(),
                waiting.pool.clone(),
                moment(waiting.since.as_option()),
                why(waiting.cause.as_option()),
                waiting.blocked.join("; "),
            ]
        });
        lines.push(String::new());
        lines.extend(table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
    }
    lines
}

/// The cause of a run.
fn why(cause: Option<&proto::Cause>) -> String {
    match cause.and_then(|cause| cause.kind.as_ref()) {
        None => "its trigger holds".to_owned(),
        Some(cause::Kind::Manual(manual)) => {
            let signed = manual.signed.as_option().cloned().unwrap_or_default();
            format!("asked for by {}", signed.by)
        }
        Some(cause::Kind::Chunk(chunk)) => {
            format!("backfill of {} to {}", moment(chunk.start.as_option()), moment(chunk.end.as_option()))
        }
    }
}

pub(super) fn history(events: &[proto::TaskEvent]) -> Vec<String> {
    let head = ["TIME", "BY", "WHAT", "REASON"].map(str::to_owned);
    let rows = events.iter().map(|event| {
        let alerts = event.alerts.iter().map(|alert| format!("told: {}", alert.text));
        let what: Vec<String> = event.what.iter().cloned().chain(alerts).collect();
        [
            moment(event.time.as_option()),
            if event.author.is_empty() { "torg".to_owned() } else { event.author.clone() },
            one_line(&what.join("; ")),
            one_line(&event.reason),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn runs(runs: &[proto::TaskRun]) -> Vec<String> {
    let head = ["RUN", "STARTED", "ENDED", "OUTCOME", "ATTEMPT", "WHY", "ERROR"].map(str::to_owned);
    let rows = runs.iter().map(|run| {
        let refused = run.refused.iter().map(|(name, why)| format!("{name} was not set: {why}"));
        let errors: Vec<String> =
            Some(run.error.clone()).filter(|error| !error.is_empty()).into_iter().chain(refused).collect();
        [
            run.number.to_string(),
            moment(run.start_time.as_option()),
            moment(run.end_time.as_option()),
            paint_state(outcome(run)),
            run.attempt.to_string(),
            why(run.cause.as_option()),
            cut(&one_line(&errors.join("; ")), ERROR_CHARS_MAX),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn outcome(run: &proto::TaskRun) -> &'static str {
    use task_run::Outcome;
    match run.outcome.as_known().unwrap_or_default() {
        Outcome::OUTCOME_UNSPECIFIED => "under way",
        Outcome::OUTCOME_SUCCEEDED => "succeeded",
        Outcome::OUTCOME_FAILED => "failed",
        Outcome::OUTCOME_LOST => "lost",
    }
}

/// The remembered values beside the current ones.
pub(super) fn remembered(
    answer: &proto::ExplainTaskResponse,
    remembered: &BTreeMap<String, SeenValue>,
) -> Vec<String> {
    if remembered.is_empty() {
        return vec!["nothing is remembered: the task fires as at its first run".to_owned()];
    }
    let head = ["PARAMETER", "REMEMBERED", "CURRENT", ""].map(str::to_owned);
    let rows = remembered.iter().map(|(parameter, seen)| {
        let leaf = answer.leaves.iter().find(|leaf| leaf.parameter == *parameter);
        let is_regressed = answer.regressions.iter().any(|regression| regression.parameter == *parameter);
        [
            parameter.clone(),
            value(Some(seen)),
            leaf.map(|leaf| value(leaf.current.as_option())).unwrap_or_default(),
            paint_state(if is_regressed { "regressed" } else { "" }),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn planned(answer: &proto::ApplyTasksResponse) -> Vec<String> {
    let warnings = answer.warnings.iter().map(|warning| warning.trim_end().to_owned());
    warnings.chain([answer.text.clone()]).collect()
}

pub(super) fn applied(answer: &proto::ApplyTasksResponse) -> Vec<String> {
    let mut lines = planned(answer);
    let deployment = answer.deployment.as_option().cloned().unwrap_or_default();
    let taken_up =
        if answer.taken_up { "" } else { "; nobody goes by it yet: does a process with the role tasks run?" };
    lines
        .push(format!("deployment {} of {} tasks is at work{taken_up}", deployment.number, deployment.tasks));
    lines
}

/// The files in use. Everything that is not part of them is printed as YAML comments.
pub(super) fn files(answer: &proto::GetTaskFilesResponse) -> Vec<String> {
    let Some(deployment) = answer.deployment.as_option() else {
        return vec!["no task files are at work: torg tasks apply FILES --reason WHY".to_owned()];
    };
    let mut lines = vec![format!(
        "# deployment {} by {} at {}: {}",
        deployment.number,
        deployment.author,
        moment(deployment.time.as_option()),
        one_line(&deployment.reason)
    )];
    for file in &answer.files {
        lines.push(format!("# {}", one_line(&file.name)));
        lines.push(file.text.trim_end_matches('\n').to_owned());
    }
    lines
}
