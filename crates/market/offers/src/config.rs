//! How offers are kept.

use std::time::Duration;

use wire::torg::offers::v1::Status;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How long things last. Every value has a default that is right for a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long an offer is shown before it expires.
    pub exposure: Duration,
    /// How long an offer stays in the active tables once it was removed.
    pub archive_removed_after: Duration,
    /// The same for an offer that expired.
    pub archive_expired_after: Duration,
    /// The same for one that was sold.
    pub archive_sold_after: Duration,
    /// The same for one that is banned.
    pub archive_banned_after: Duration,
    /// How long the history of a change is kept.
    pub keep_history: Duration,
    /// How long a draft is kept that nobody changes.
    pub keep_drafts: Duration,
    /// How long an idempotency key is remembered.
    pub keep_keys: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            exposure: 180 * DAY,
            archive_removed_after: 7 * DAY,
            archive_expired_after: 60 * DAY,
            archive_sold_after: 60 * DAY,
            archive_banned_after: 180 * DAY,
            keep_history: 365 * DAY,
            keep_drafts: 90 * DAY,
            keep_keys: DAY,
        }
    }
}

impl Config {
    /// How long an offer of this status stays in the active tables; `None`: for ever.
    #[must_use]
    pub fn archive_after(&self, status: Status) -> Option<Duration> {
        match status {
            Status::STATUS_REMOVED => Some(self.archive_removed_after),
            Status::STATUS_EXPIRED => Some(self.archive_expired_after),
            Status::STATUS_SOLD => Some(self.archive_sold_after),
            Status::STATUS_BANNED => Some(self.archive_banned_after),
            Status::STATUS_ARCHIVED => Some(Duration::ZERO),
            Status::STATUS_ACTIVE | Status::STATUS_UNSPECIFIED => None,
        }
    }
}
