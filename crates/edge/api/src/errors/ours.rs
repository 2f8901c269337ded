//! Errors of ours: logged in full under an id, of which the caller hears nothing but the id.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use connectrpc::ErrorCode;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Refusal;

/// Errors logged so far, so that equal errors get ids of their own.
static LOGGED: AtomicU64 = AtomicU64::new(0);

impl Refusal {
    /// Something that must not happen.
    #[must_use]
    pub fn internal(error: &impl Display) -> Self {
        let text = "something went wrong on our side";
        Self::new(ErrorCode::Internal, "INTERNAL", text).logged("a call failed", error)
    }

    /// Data that cannot be read any more.
    #[must_use]
    pub fn damaged(error: &impl Display) -> Self {
        let text = "this cannot be read: our copy is damaged";
        Self::new(ErrorCode::DataLoss, "DAMAGED", text).logged("a call met damaged data", error)
    }

    /// Something that is away for a while.
    pub(super) fn away(reason: &'static str, text: &str, error: &impl Display) -> Self {
        Self::new(ErrorCode::Unavailable, reason, text)
            .logged("a call could not be served now", error)
            .passing()
    }

    /// Something that is larger than the store takes.
    fn too_large(error: &impl Display) -> Self {
        let text = "this is larger than can be kept";
        Self::new(ErrorCode::InvalidArgument, "TOO_LARGE", text).logged("a call sent too much", error)
    }

    /// What the store refuses, by its kind.
    pub(super) fn of_store(error: &store::Error) -> Self {
        use store::Error;
        match error {
            Error::KeyTooLarge { .. }
            | Error::ValueTooLarge { .. }
            | Error::BatchTooLarge { .. }
            | Error::TooManyKeys { .. } => Self::too_large(error),
            Error::CounterOverflow { .. } => {
                let text =
                    "this seller has earned more than can be counted: leave out what was paid, or say less";
                Self::new(ErrorCode::FailedPrecondition, "COUNTER_FULL", text)
            }
            Error::Corrupt { .. } => Self::damaged(error),
            Error::Unresolved { .. } => {
                let text = "it is not known whether this was done: ask again with the same idempotency key";
                Self::away("OUTCOME_UNKNOWN", text, error)
            }
            Error::Closed | Error::Refused { .. } => Self::away("UNAVAILABLE", AWAY, error),
            passing if passing.is_passing() => Self::away("UNAVAILABLE", AWAY, error),
            other => Self::internal(other),
        }
    }

    /// What the watcher refuses, by its kind.
    pub(super) fn of_watcher(error: &watcher::Error) -> Self {
        use watcher::Error;
        match error {
            Error::Store(error) => Self::of_store(error),
            Error::Topics(error) => Self::of_topics(error),
            Error::Damaged { .. } => Self::damaged(error),
            Error::NotFound { what } => Self::new(ErrorCode::NotFound, "NOT_FOUND", what),
            Error::Conflict { what } => Self::new(ErrorCode::Aborted, "CONFLICT", what).passing(),
            Error::Invalid { what } | Error::Refused { what, .. } => {
                Self::new(ErrorCode::InvalidArgument, "REFUSED", what)
            }
            other => Self::internal(other),
        }
    }

    /// What a topic refuses, by its kind.
    pub(super) fn of_topics(error: &topics::Error) -> Self {
        use topics::Error;
        match error {
            Error::Store(error) => Self::of_store(error),
            Error::Unavailable { .. } | Error::Contended { .. } => Self::away("UNAVAILABLE", AWAY, error),
            Error::DamagedMessage { .. } | Error::DamagedRow { .. } => Self::damaged(error),
            Error::TooLarge { .. } => Self::too_large(error),
            other => Self::internal(other),
        }
    }

    /// Logs what happened under an id, and tells the caller the id.
    fn logged(self, what: &'static str, error: &impl Display) -> Self {
        let error = error.to_string();
        let number = LOGGED.fetch_add(1, Ordering::Relaxed);
        let incident = format!("{:016x}", xxh3_64_with_seed(error.as_bytes(), number));
        if self.code == ErrorCode::InvalidArgument {
            tracing::debug!(incident, error, "{what}");
        } else {
            tracing::error!(incident, error, "{what}");
        }
        self.with("incident", &incident)
    }
}

pub(super) const AWAY: &str = "this cannot be served now: try again later";
