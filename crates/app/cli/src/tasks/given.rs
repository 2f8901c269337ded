//! Parses `torg tasks` arguments.

use jiff::Timestamp;
use jiff::civil::Date;
use wire::torg::tasks::v1::list_tasks_request::Standing as Wire;

/// The start or the end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border {
    /// The start of a day in the time zone of the task.
    Day(Date),
    Moment(Timestamp),
}

/// Parses a day, or a time with its offset from UTC.
pub(super) fn border(text: &str) -> Result<Border, String> {
    if let Ok(moment) = text.parse() {
        return Ok(Border::Moment(moment));
    }
    let is_day = text.len() == "2026-03-01".len();
    let day = is_day.then(|| text.parse().ok()).flatten().map(Border::Day);
    day.ok_or_else(|| {
        format!(
            "{text:?} is neither a day such as 2026-03-01, in the time zone of the task, nor a moment such as 2026-03-01T00:00+03:00"
        )
    })
}

/// How a task can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Standing {
    /// It waits for its trigger to hold.
    Idle,
    /// It waits for its turn.
    Queued,
    /// A run is under way.
    Running,
    /// A run has failed and is tried again.
    Waiting,
    /// It gave up or was cancelled, until a parameter changes.
    Resting,
    /// It does not fire until it is resumed.
    Paused,
    /// Several runs in a row have failed.
    Failing,
    /// A parameter is below what is remembered.
    Regressed,
    /// No run has succeeded for too long.
    Silent,
    /// Its definition is gone.
    Gone,
}

impl Standing {
    pub(super) const fn to_wire(self) -> Wire {
        match self {
            Self::Idle => Wire::STANDING_IDLE,
            Self::Queued => Wire::STANDING_QUEUED,
            Self::Running => Wire::STANDING_RUNNING,
            Self::Waiting => Wire::STANDING_WAITING,
            Self::Resting => Wire::STANDING_RESTING,
            Self::Paused => Wire::STANDING_PAUSED,
            Self::Failing => Wire::STANDING_FAILING,
            Self::Regressed => Wire::STANDING_REGRESSED,
            Self::Silent => Wire::STANDING_SILENT,
            Self::Gone => Wire::STANDING_GONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_is_a_day_or_a_moment_and_a_moment_has_an_offset() {
        assert_eq!(border("2026-03-01"), Ok(Border::Day(Date::constant(2026, 3, 1))));
        let moment = "2026-02-28T21:00:00Z".parse().unwrap();
        assert_eq!(border("2026-03-01T00:00+03:00"), Ok(Border::Moment(moment)));
        assert_eq!(border("2026-02-28T21:00:00Z"), Ok(Border::Moment(moment)));
        for wrong in ["2026-03-01T00:00", "2026-03-01T00:00:00", "yesterday", "2026-02-30", "1.3.2026", ""] {
            assert!(border(wrong).unwrap_err().contains("neither a day such as"), "{wrong}");
        }
    }
}
