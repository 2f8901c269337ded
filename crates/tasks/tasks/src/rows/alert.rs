//! Alerts.

use buffa::EnumValue;
use ctl::messages;
use jiff::Timestamp;
use planner::board::Alert;
use wire::torg::tasks::v1::{TaskAlert, task_alert::Kind};

/// An alert with its number among those of a task.
pub(crate) fn alert_message(alert: &Alert, number: u64, at: Timestamp) -> TaskAlert {
    let kind = match alert {
        Alert::Silent { .. } => Kind::KIND_SILENT,
        Alert::SilenceEnded => Kind::KIND_SILENCE_ENDED,
        Alert::Failing { .. } => Kind::KIND_FAILING,
        Alert::Recovered => Kind::KIND_RECOVERED,
        Alert::GaveUp { .. } => Kind::KIND_GAVE_UP,
        Alert::Regressed { .. } => Kind::KIND_REGRESSED,
        Alert::Mended { .. } => Kind::KIND_MENDED,
        Alert::BackfillStopped { .. } => Kind::KIND_BACKFILL_STOPPED,
        Alert::BackfillDone { .. } => Kind::KIND_BACKFILL_DONE,
    };
    TaskAlert {
        number,
        time: Some(messages::time(at)).into(),
        kind: EnumValue::Known(kind),
        text: alert.to_string(),
        ..Default::default()
    }
}
