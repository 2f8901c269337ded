//! Internal errors: logged in full under an id; the caller receives only the id.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use connectrpc::ErrorCode;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Refusal;

/// The number of logged errors, which makes ids of equal errors differ.
static LOGGED: AtomicU64 = AtomicU64::new(0);

impl Refusal {
    /// An unexpected error.
    #[must_use]
    pub fn internal(error: &impl Display) -> Self {
        let text = "internal error";
        Self::new(ErrorCode::Internal, "INTERNAL", text).logged("call failed", error)
    }

    /// Damaged data.
    #[must_use]
    pub fn damaged(error: &impl Display) -> Self {
        let text = "the stored data is damaged";
        Self::new(ErrorCode::DataLoss, "DAMAGED", text).logged("call failed on damaged data", error)
    }

    /// Something is temporarily unavailable.
    pub(super) fn away(reason: &'static str, text: &str, error: &impl Display) -> Self {
        Self::new(ErrorCode::Unavailable, reason, text).logged("call failed temporarily", error).passing()
    }

    /// The data is too large for the store.
    fn too_large(error: &impl Display) -> Self {
        let text = "too large to be stored";
        Self::new(ErrorCode::InvalidArgument, "TOO_LARGE", text).logged("call refused: too large", error)
    }

    pub(super) fn of_store(error: &store::Error) -> Self {
        use store::Error;
        match error {
            Error::KeyTooLarge { .. }
            | Error::ValueTooLarge { .. }
            | Error::BatchTooLarge { .. }
            | Error::TooManyKeys { .. } => Self::too_large(error),
            Error::CounterOverflow { .. } => {
                let text = "the seller's earnings exceed the counter: omit the paid amount, or lower it";
                Self::new(ErrorCode::FailedPrecondition, "COUNTER_FULL", text)
            }
            Error::Corrupt { .. } => Self::damaged(error),
            Error::Unresolved { .. } => {
                let text = "the outcome is unknown: repeat the call with the same idempotency key";
                Self::away("OUTCOME_UNKNOWN", text, error)
            }
            Error::Closed | Error::Refused { .. } => Self::away("UNAVAILABLE", AWAY, error),
            passing if passing.is_passing() => Self::away("UNAVAILABLE", AWAY, error),
            other => Self::internal(other),
        }
    }

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

    /// Logs the error under an id and adds the id to the refusal.
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

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        Self::of_store(&error)
    }
}

impl From<watcher::Error> for Refusal {
    fn from(error: watcher::Error) -> Self {
        Self::of_watcher(&error)
    }
}

pub(super) const AWAY: &str = "temporarily unavailable: try again later";
