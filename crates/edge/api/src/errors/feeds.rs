//! Refusals of feeds.

use connectrpc::ErrorCode;
use feeds::Error;

use super::Refusal;

impl Refusal {
    /// The feed does not exist for this caller.
    #[must_use]
    pub fn no_feed(namespace: &str) -> Self {
        let text = format!("there is no feed {namespace:?}: list feeds with ListFeeds");
        Self::new(ErrorCode::NotFound, "FEED_NOT_FOUND", text).with("namespace", &namespace)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::NotFound { namespace, .. } => Self::no_feed(&namespace),
            Error::NoLoad(number) => {
                Self::new(ErrorCode::NotFound, "LOAD_NOT_FOUND", text).with("number", &number)
            }
            Error::Exists { namespace, .. } => {
                Self::new(ErrorCode::AlreadyExists, "FEED_EXISTS", text).with("namespace", &namespace)
            }
            Error::Invalid { field, text } => Self::wrong_field(&field, "INVALID_FEED", text),
            Error::OtherVersion { expected, actual } => {
                let refusal = Self::new(ErrorCode::Aborted, "VERSION_CONFLICT", text);
                refusal.with("expected", &expected).with("actual", &actual)
            }
            Error::NotWaiting(number) => {
                Self::new(ErrorCode::FailedPrecondition, "LOAD_NOT_WAITING", text).with("number", &number)
            }
            Error::Deleting => Self::new(ErrorCode::FailedPrecondition, "FEED_DELETING", text),
            Error::Contended => Self::new(ErrorCode::Aborted, "CONTENDED", text).passing(),
            Error::Store(error) => Self::of_store(&error),
            Error::Watcher(error) => Self::of_watcher(&error),
            Error::Topics(error) => Self::of_topics(&error),
            Error::Offers(error) => error.into(),
            Error::Files(error) => Self::away("UNAVAILABLE", super::internal::AWAY, &error),
            Error::Disk(error) => Self::away("UNAVAILABLE", super::internal::AWAY, &error),
            damaged @ Error::Damaged { .. } => Self::damaged(&damaged),
            other => Self::internal(&other),
        }
    }
}
