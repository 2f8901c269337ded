//! Retention and exposure times.

use std::time::Duration;

use wire::torg::offers::v1::Status;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// From publication to expiry.
    pub exposure: Duration,
    /// From the removal of an offer to its move to the archive; for other statuses likewise.
    pub archive_removed_after: Duration,
    pub archive_expired_after: Duration,
    pub archive_sold_after: Duration,
    pub archive_banned_after: Duration,
    pub history_retention: Duration,
    /// From the last change of a draft.
    pub draft_retention: Duration,
    /// Of idempotency keys.
    pub key_retention: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            exposure: 180 * DAY,
            archive_removed_after: 7 * DAY,
            archive_expired_after: 60 * DAY,
            archive_sold_after: 60 * DAY,
            archive_banned_after: 180 * DAY,
            history_retention: 365 * DAY,
            draft_retention: 90 * DAY,
            key_retention: DAY,
        }
    }
}

impl Config {
    /// How long an offer of this status stays in the active tables; `None` if it is never archived.
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
