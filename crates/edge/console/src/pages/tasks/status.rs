//! The states of tasks.

use maud::{Markup, html};
use wire::torg::tasks::v1::task_state::Phase;
use wire::torg::tasks::v1::{TaskState, TaskSummary};

use crate::language::w;
use crate::view::{Tone, ago, state};
use crate::visit::Visit;

/// A state of a task: one of the first five, and any of the others in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Idle,
    Queued,
    Running,
    Waiting,
    Resting,
    Paused,
    Failing,
    Regressed,
    Silent,
    Gone,
}

impl Status {
    pub(super) const ALL: [Self; 10] = [
        Self::Running,
        Self::Queued,
        Self::Idle,
        Self::Waiting,
        Self::Resting,
        Self::Paused,
        Self::Failing,
        Self::Regressed,
        Self::Silent,
        Self::Gone,
    ];

    /// The name in addresses.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Resting => "resting",
            Self::Paused => "paused",
            Self::Failing => "failing",
            Self::Regressed => "regressed",
            Self::Silent => "silent",
            Self::Gone => "gone",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.name() == name)
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Idle => w("idle"),
            Self::Queued => w("queued"),
            Self::Running => w("running"),
            Self::Waiting => w("waits for the next attempt"),
            Self::Resting => w("rests"),
            Self::Paused => w("paused"),
            Self::Failing => w("failing"),
            Self::Regressed => w("a value was moved back"),
            Self::Silent => w("silent for too long"),
            Self::Gone => w("definition removed"),
        }
    }

    pub(super) const fn tone(self) -> Tone {
        match self {
            Self::Idle => Tone::Plain,
            Self::Queued | Self::Running => Tone::Good,
            Self::Waiting | Self::Resting | Self::Paused | Self::Gone => Tone::Warn,
            Self::Failing | Self::Regressed | Self::Silent => Tone::Bad,
        }
    }
}

pub(super) fn state_of(task: &TaskSummary) -> Option<&TaskState> {
    task.task.as_option().and_then(|task| task.state.as_option())
}

/// All states of a task, its phase first, by the same rules as the service.
pub(super) fn statuses(task: &TaskSummary) -> Vec<Status> {
    let state = state_of(task);
    let phase = match state.and_then(|state| state.phase.as_ref()) {
        None => Status::Idle,
        Some(Phase::Queued(_)) => Status::Queued,
        Some(Phase::Running(_)) => Status::Running,
        Some(Phase::Waiting(_)) => Status::Waiting,
        Some(Phase::Resting(_)) => Status::Resting,
    };
    let regressed = state.is_some_and(|state| !state.regressed.is_empty());
    let silent = state.is_some_and(|state| state.silent_time.is_set());
    let beside = [
        (task.paused && !task.gone, Status::Paused),
        (task.failing, Status::Failing),
        (regressed && !task.gone, Status::Regressed),
        (silent && !task.gone, Status::Silent),
        (task.gone, Status::Gone),
    ];
    let is_phase = !task.gone || phase == Status::Running;
    let beside = beside.into_iter().filter_map(|(is_so, standing)| is_so.then_some(standing));
    is_phase.then_some(phase).into_iter().chain(beside).collect()
}

/// The tone of the worst state.
pub(super) fn tone_of(task: &TaskSummary) -> Tone {
    let tones: Vec<Tone> = statuses(task).into_iter().map(Status::tone).collect();
    let worst = [Tone::Bad, Tone::Warn, Tone::Good].into_iter().find(|tone| tones.contains(tone));
    worst.unwrap_or(Tone::Plain)
}

/// The states in words, with the time of the phase.
pub(super) fn shown(visit: &Visit, task: &TaskSummary) -> Markup {
    html! {
        @for standing in statuses(task) { (state(standing.tone(), visit.t(standing.text()))) " " }
        @if let Some(phase) = state_of(task).and_then(|state| state.phase.as_ref()) {
            span.quiet {
                @match phase {
                    Phase::Queued(queued) => { (ago(visit, queued.since.as_option())) }
                    Phase::Running(running) => { (ago(visit, running.since.as_option())) }
                    Phase::Waiting(waiting) => { (ago(visit, waiting.until.as_option())) }
                    Phase::Resting(resting) => { (ago(visit, resting.since.as_option())) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::torg::tasks::v1::Task;

    use super::*;

    fn task(phase: Option<Phase>) -> TaskSummary {
        let state = TaskState { phase, ..TaskState::default() };
        let task = Task { state: Some(state).into(), ..Task::default() };
        TaskSummary { task: Some(task).into(), ..TaskSummary::default() }
    }

    #[test]
    fn a_task_stands_in_one_phase_and_in_others_beside_and_has_the_colour_of_the_worst() {
        let resting = || task(Some(Phase::Resting(Box::default())));
        assert_eq!(statuses(&task(None)), [Status::Idle]);
        assert_eq!(tone_of(&task(None)), Tone::Plain);
        let failing = TaskSummary { failing: true, paused: true, ..resting() };
        assert_eq!(statuses(&failing), [Status::Resting, Status::Paused, Status::Failing]);
        assert_eq!(tone_of(&failing), Tone::Bad);
        let gone = TaskSummary { gone: true, paused: true, ..resting() };
        assert_eq!(statuses(&gone), [Status::Gone]);
        for standing in Status::ALL {
            assert_eq!(Status::from_name(standing.name()), Some(standing));
        }
    }
}
