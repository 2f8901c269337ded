//! The state of a task.

use ctl::messages;
use planner::{Backfill, Phase, Rest, TaskState};
use proto::task_state::{self, Phase as Stored};
use wire::torg::tasks::v1 as proto;

use super::{
    Detail, cause_message, manual_message, needed_time, read_cause, read_manual, read_signed, read_time,
    signed_message,
};

pub(crate) fn state_message(state: &TaskState) -> proto::TaskState {
    let time = |at: Option<jiff::Timestamp>| at.map(messages::time).into();
    proto::TaskState {
        phase: phase_message(&state.phase),
        remembered: messages::seen(&state.remembered),
        paused: state.paused.as_ref().map(signed_message).into(),
        resumed: state.resumed,
        manual: state.manual.as_ref().map(manual_message).into(),
        backfill: state.backfill.as_ref().map(backfill_message).into(),
        runs: state.runs,
        attempts: state.attempts,
        error: state.error.clone(),
        known_time: time(Some(state.known_since)),
        last_run_time: time(state.last_run),
        last_success_time: time(state.last_success),
        last_failure_time: time(state.last_failure),
        regressed: state.regressed.iter().map(|(of, at)| (of.to_string(), messages::time(*at))).collect(),
        silent_time: time(state.silent_since),
        told_failing: state.told_failing,
        ..Default::default()
    }
}

/// The state in a message; its version is that of the row.
pub(crate) fn read_state(state: &proto::TaskState, version: u64) -> Result<TaskState, Detail> {
    let regressed = |(of, at): (&String, &_)| {
        let of = of.parse().map_err(|error: triggers::Error| error.to_string())?;
        Ok::<_, Detail>((of, messages::read_time(at)?))
    };
    Ok(TaskState {
        version,
        phase: read_phase(state.phase.as_ref())?,
        remembered: messages::read_seen(&state.remembered)?,
        paused: state.paused.as_option().map(read_signed).transpose()?,
        resumed: state.resumed,
        manual: state.manual.as_option().map(read_manual).transpose()?,
        backfill: state.backfill.as_option().map(read_backfill).transpose()?,
        runs: state.runs,
        attempts: state.attempts,
        error: state.error.clone(),
        known_since: needed_time(state.known_time.as_option())?,
        last_run: read_time(state.last_run_time.as_option())?,
        last_success: read_time(state.last_success_time.as_option())?,
        last_failure: read_time(state.last_failure_time.as_option())?,
        regressed: state.regressed.iter().map(regressed).collect::<Result<_, _>>()?,
        silent_since: read_time(state.silent_time.as_option())?,
        told_failing: state.told_failing,
    })
}

fn phase_message(phase: &Phase) -> Option<Stored> {
    match phase {
        Phase::Idle => None,
        Phase::Queued { since, seen, cause } => Some(
            task_state::Queued {
                since: Some(messages::time(*since)).into(),
                seen: messages::seen(seen),
                cause: Some(cause_message(cause)).into(),
                ..Default::default()
            }
            .into(),
        ),
        Phase::Running { run, since, seen, cause } => Some(
            task_state::Running {
                run: *run,
                since: Some(messages::time(*since)).into(),
                seen: messages::seen(seen),
                cause: Some(cause_message(cause)).into(),
                ..Default::default()
            }
            .into(),
        ),
        Phase::Waiting { until } => Some(
            task_state::Waiting { until: Some(messages::time(*until)).into(), ..Default::default() }.into(),
        ),
        Phase::Resting { since, seen, why } => {
            let cancelled = match why {
                Rest::GaveUp => None,
                Rest::Cancelled(signed) => Some(signed_message(signed)),
            };
            Some(
                task_state::Resting {
                    since: Some(messages::time(*since)).into(),
                    seen: messages::seen(seen),
                    cancelled: cancelled.into(),
                    ..Default::default()
                }
                .into(),
            )
        }
    }
}

fn read_phase(phase: Option<&Stored>) -> Result<Phase, Detail> {
    Ok(match phase {
        None => Phase::Idle,
        Some(Stored::Queued(queued)) => Phase::Queued {
            since: needed_time(queued.since.as_option())?,
            seen: messages::read_seen(&queued.seen)?,
            cause: read_cause(queued.cause.as_option())?,
        },
        Some(Stored::Running(running)) => Phase::Running {
            run: running.run,
            since: needed_time(running.since.as_option())?,
            seen: messages::read_seen(&running.seen)?,
            cause: read_cause(running.cause.as_option())?,
        },
        Some(Stored::Waiting(waiting)) => Phase::Waiting { until: needed_time(waiting.until.as_option())? },
        Some(Stored::Resting(resting)) => Phase::Resting {
            since: needed_time(resting.since.as_option())?,
            seen: messages::read_seen(&resting.seen)?,
            why: match resting.cancelled.as_option() {
                None => Rest::GaveUp,
                Some(signed) => Rest::Cancelled(read_signed(signed)?),
            },
        },
    })
}

fn backfill_message(backfill: &Backfill) -> proto::Backfill {
    proto::Backfill {
        scale: backfill.scale.to_string(),
        next: Some(messages::time(backfill.next)).into(),
        to: Some(messages::time(backfill.to)).into(),
        left: backfill.left,
        done: backfill.done,
        record: backfill.record,
        signed: Some(signed_message(&backfill.signed)).into(),
        stopped: backfill.stopped.clone(),
        ..Default::default()
    }
}

fn read_backfill(backfill: &proto::Backfill) -> Result<Backfill, Detail> {
    let signed = backfill.signed.as_option().ok_or("a backfill has no author")?;
    Ok(Backfill {
        scale: backfill.scale.parse().map_err(|error: triggers::Error| error.to_string())?,
        next: needed_time(backfill.next.as_option())?,
        to: needed_time(backfill.to.as_option())?,
        left: backfill.left,
        done: backfill.done,
        record: backfill.record,
        signed: read_signed(signed)?,
        stopped: backfill.stopped.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use buffa::Message as _;
    use jiff::Timestamp;
    use planner::{Cause, Chunk, Manual, Seen, Signed};
    use triggers::{Scale, Value};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::new(second, 123_456_789).unwrap()
    }

    fn signed(second: i64) -> Signed {
        Signed { by: "anna".to_owned(), reason: "a test".to_owned(), at: at(second) }
    }

    fn seen() -> Seen {
        let (time, number) = (Value::Time(at(5)), Value::Number(-7));
        Seen::from([("sales.loaded_to".parse().unwrap(), time), ("shop/stock.rows".parse().unwrap(), number)])
    }

    #[test]
    fn a_state_is_read_as_it_was_written_in_every_phase() {
        let phases = [
            Phase::Idle,
            Phase::Queued { since: at(1), seen: seen(), cause: Cause::Trigger },
            Phase::Running {
                run: 3,
                since: at(-2),
                seen: seen(),
                cause: Cause::Manual(Manual { signed: signed(4), record: true }),
            },
            Phase::Running {
                run: 4,
                since: at(2),
                seen: Seen::new(),
                cause: Cause::Chunk(Chunk { start: at(10), end: at(20) }),
            },
            Phase::Waiting { until: at(6) },
            Phase::Resting { since: at(7), seen: seen(), why: Rest::GaveUp },
            Phase::Resting { since: at(7), seen: seen(), why: Rest::Cancelled(signed(8)) },
        ];
        for phase in phases {
            let state = TaskState {
                version: 9,
                phase,
                remembered: seen(),
                paused: Some(signed(1)),
                resumed: true,
                manual: Some(Manual { signed: signed(2), record: false }),
                backfill: Some(Backfill {
                    scale: Scale::Minutes(30),
                    next: at(1),
                    to: at(2),
                    left: 3,
                    done: 4,
                    record: true,
                    signed: signed(5),
                    stopped: Some("exit code 1".to_owned()),
                }),
                runs: 12,
                attempts: 2,
                error: Some(String::new()),
                known_since: at(-1_000_000_000),
                last_run: Some(at(3)),
                last_success: Some(at(4)),
                last_failure: Some(at(5)),
                regressed: BTreeMap::from([("a.b".parse().unwrap(), at(6))]),
                silent_since: Some(at(7)),
                told_failing: true,
            };
            let bytes = state_message(&state).encode_to_vec();
            let message = proto::TaskState::decode_from_slice(&bytes).unwrap();
            assert_eq!(read_state(&message, 9), Ok(state));
        }
    }

    #[test]
    fn a_new_state_has_nothing_but_the_moment_since_when_it_is_known() {
        let state = TaskState::new(at(1));
        assert_eq!(read_state(&state_message(&state), 0), Ok(state));
        assert!(read_state(&proto::TaskState::default(), 0).unwrap_err().contains("missing"));
    }
}
