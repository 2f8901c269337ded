//! Refusals of tasks.

use connectrpc::ErrorCode;
use tasks::Error;

use super::Refusal;
use super::internal::AWAY;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Task(error) => Self::from(error),
            Error::Values(error) => Self::from(error),
            Error::Store(error @ store::Error::Unresolved { .. })
            | Error::Watcher(watcher::Error::Store(error @ store::Error::Unresolved { .. })) => {
                let text = "the outcome is unknown: see the history of the task";
                Self::away("OUTCOME_UNKNOWN", text, &error)
            }
            Error::Store(error) => Self::of_store(&error),
            Error::Watcher(error) => Self::of_watcher(&error),
            Error::Files(_) | Error::Definition { .. } => {
                Self::wrong_field("files", "WRONG_TASK_FILES", text)
            }
            Error::NotRunning(task) => {
                Self::new(ErrorCode::FailedPrecondition, "NOT_RUNNING", text).with("task", &task)
            }
            Error::NoRun { task, run } => {
                Self::new(ErrorCode::NotFound, "RUN_NOT_FOUND", text).with("task", &task).with("run", &run)
            }
            Error::Elsewhere { task, run, place, .. } => {
                let refusal = Self::new(ErrorCode::FailedPrecondition, "RUN_ELSEWHERE", text);
                refusal.with("task", &task).with("run", &run).with("place", &place)
            }
            Error::NotLoaded(task) => {
                Self::new(ErrorCode::Unavailable, "NOT_TAKEN_UP", text).with("task", &task).passing()
            }
            Error::Contended => Self::new(ErrorCode::Aborted, "CONTENDED", text).passing(),
            damaged @ Error::Damaged { .. } => Self::damaged(&damaged),
            passing if passing.is_passing() => Self::away("UNAVAILABLE", AWAY, &passing),
            other => Self::internal(&other),
        }
    }
}

impl From<planner::Error> for Refusal {
    fn from(error: planner::Error) -> Self {
        use planner::Error;
        let text = error.to_string();
        let cannot = |reason| Self::new(ErrorCode::FailedPrecondition, reason, text.clone());
        match error {
            Error::NoTask(task) => Self::new(ErrorCode::NotFound, "TASK_NOT_FOUND", text).with("task", &task),
            Error::Reason => Self::wrong_field("reason", "REQUIRED", text),
            Error::Author => {
                Self::new(ErrorCode::FailedPrecondition, "NO_NAME", "the credential has no subject")
            }
            Error::NoScale { .. } => Self::wrong_field("scale", "REQUIRED", text),
            Error::EmptyRange => Self::wrong_field("to", "EMPTY_RANGE", text),
            Error::BackfillLimit => Self::wrong_field("limit", "OUT_OF_RANGE", text),
            Error::NotOfTrigger { task, .. } => {
                Self::wrong_field("parameter", "NOT_OF_TRIGGER", text).with("task", &task)
            }
            Error::Paused { .. } => cannot("PAUSED_ALREADY"),
            Error::NotPaused => cannot("NOT_PAUSED"),
            Error::AlreadyRequested { .. } => cannot("ASKED_ALREADY"),
            Error::NotQueued => cannot("NOT_QUEUED"),
            Error::ChunkQueued => cannot("CHUNK_QUEUED"),
            Error::NotRemembered(_) | Error::NothingRemembered => cannot("NOT_REMEMBERED"),
            Error::TooManyRemembered => cannot("TOO_MANY_REMEMBERED"),
            Error::BackfillRunning => cannot("BACKFILL_UNDER_WAY"),
            Error::NoBackfill(_) => cannot("NO_BACKFILL"),
            other => Self::internal(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_kind_its_reason_and_its_field() {
        use ErrorCode::{
            Aborted, DataLoss, FailedPrecondition, Internal, InvalidArgument, NotFound, Unavailable,
        };
        use planner::Error as Of;
        let task = || "t".to_owned();
        let day = || triggers::Parameter { entity: "a".into(), name: "b".into() };
        for (error, code, reason, field) in [
            (Of::NoTask(task()).into(), NotFound, "TASK_NOT_FOUND", ""),
            (Of::Reason.into(), InvalidArgument, "REQUIRED", "reason"),
            (Of::NoScale { found: "none".into() }.into(), InvalidArgument, "REQUIRED", "scale"),
            (Of::EmptyRange.into(), InvalidArgument, "EMPTY_RANGE", "to"),
            (Of::BackfillLimit.into(), InvalidArgument, "OUT_OF_RANGE", "limit"),
            (Of::NotPaused.into(), FailedPrecondition, "NOT_PAUSED", ""),
            (Of::BackfillRunning.into(), FailedPrecondition, "BACKFILL_UNDER_WAY", ""),
            (Of::NotRemembered(day()).into(), FailedPrecondition, "NOT_REMEMBERED", ""),
            (Error::NotRunning(task()), FailedPrecondition, "NOT_RUNNING", ""),
            (Error::NoRun { task: task(), run: 5 }, NotFound, "RUN_NOT_FOUND", ""),
            (Error::NotLoaded(task()), Unavailable, "NOT_TAKEN_UP", ""),
            (Error::Contended, Aborted, "CONTENDED", ""),
            (
                Error::Definition { task: task(), what: "x".into() },
                InvalidArgument,
                "WRONG_TASK_FILES",
                "files",
            ),
            (Error::Damaged { place: "x".into(), detail: "y".into() }, DataLoss, "DAMAGED", ""),
            (Error::Runs("secret".into()), Internal, "INTERNAL", ""),
        ] {
            let refusal = Refusal::from(error);
            assert_eq!((refusal.code(), refusal.reason()), (code, reason));
            assert_eq!(refusal.fields().first().map_or("", |fault| &*fault.field), field, "{reason}");
            assert!(!refusal.text().contains("secret"));
        }
    }
}
