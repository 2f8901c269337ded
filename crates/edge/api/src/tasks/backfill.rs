//! Backfills.

use access::{Action, Caller};
use buffa_types::google::protobuf::Timestamp as WireTime;
use ctl::messages::{read_time, time};
use jiff::Timestamp;
use jiff::civil::Date;
use planner::limits::BACKFILL_CHUNKS_MAX;
use planner::{BackfillOrder, Chunk, chunks, scale_of};
use triggers::{Calendar, Scale};
use wire::torg::tasks::v1::{self as proto, SeenChunk};

use super::{TaskCalls, named};
use crate::caller::require;
use crate::errors::Refusal;

impl TaskCalls {
    pub(super) async fn start_backfill(
        &self,
        caller: &Caller,
        request: proto::StartBackfillRequest,
    ) -> Result<proto::StartBackfillResponse, Refusal> {
        require(caller, Action::Administer)?;
        let task = named(&request.task)?;
        let signed = self.signed(caller, &request.reason)?;
        let definitions = self.tasks.definitions().await?;
        let plan = definitions.plan(task).ok_or_else(|| planner::Error::NoTask(task.to_owned()))?;
        let given = Some(&request.scale).filter(|scale| !scale.is_empty());
        let scale = match given.map(|scale| scale.parse::<Scale>()) {
            Some(Ok(scale)) => scale,
            Some(Err(error)) => return Err(Refusal::wrong_field("scale", "WRONG_SCALE", error.to_string())),
            None => scale_of(&plan.trigger)?,
        };
        let from = border("from", request.from.as_option(), &request.from_day, &plan.calendar)?;
        let to = border("to", request.to.as_option(), &request.to_day, &plan.calendar)?;
        let limit = if request.limit == 0 { BACKFILL_CHUNKS_MAX } else { request.limit };
        let planned = chunks(&plan.calendar, scale, from, to, limit);
        if request.limit == 0 && planned.last().is_some_and(|last| last.end < to) {
            let text = format!(
                "the range has more than {BACKFILL_CHUNKS_MAX} chunks: give a limit, or a shorter range"
            );
            return Err(Refusal::wrong_field("limit", "OUT_OF_RANGE", text));
        }
        let order = BackfillOrder { scale: Some(scale), from, to, limit, record: request.record };
        let chunks = self.tasks.start_backfill(task, &order, &signed).await?;
        Ok(proto::StartBackfillResponse {
            chunks,
            scale: scale.to_string(),
            first: planned.first().map(chunk).into(),
            last: planned.last().map(chunk).into(),
            ..Default::default()
        })
    }
}

fn chunk(chunk: &Chunk) -> SeenChunk {
    let (start, end) = (Some(time(chunk.start)).into(), Some(time(chunk.end)).into());
    SeenChunk { start, end, ..Default::default() }
}

/// The bound of a range: a time, or the start of a day in this calendar.
fn border(
    field: &str,
    moment: Option<&WireTime>,
    day: &str,
    calendar: &Calendar,
) -> Result<Timestamp, Refusal> {
    let of_day = format!("{field}_day");
    match (moment, day) {
        (Some(moment), "") => {
            read_time(moment).map_err(|error| Refusal::wrong_field(field, "OUT_OF_RANGE", error))
        }
        (Some(_), _) => {
            Err(Refusal::wrong_field(&of_day, "NOT_ALLOWED", format!("give this or {field}, not both")))
        }
        (None, "") => Err(Refusal::wrong_field(field, "REQUIRED", format!("is required, or {of_day}"))),
        (None, day) => day_start(day, calendar).ok_or_else(|| {
            Refusal::wrong_field(&of_day, "WRONG_DAY", format!("{day:?} is not a day such as 2026-03-01"))
        }),
    }
}

/// The start of a day in a calendar.
fn day_start(day: &str, calendar: &Calendar) -> Option<Timestamp> {
    let date: Date = day.parse().ok()?;
    // Noon exists on every day, whatever its clock changes.
    let middle = date.at(12, 0, 0, 0).checked_add(calendar.day_offset()).ok()?;
    let middle = middle.to_zoned(calendar.zone().clone()).ok()?.timestamp();
    Some(calendar.start_of(calendar.index(middle, Scale::Day), Scale::Day))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use jiff::civil::Weekday;

    use super::*;

    #[test]
    fn a_day_begins_where_the_calendar_of_the_task_has_it() {
        let of = |zone: &str, offset: i64| {
            let zone = triggers::find_zone(zone).unwrap();
            Calendar::new(zone, Weekday::Monday, SignedDuration::from_hours(offset)).unwrap()
        };
        for (zone, offset, day, expected) in [
            ("UTC", 0, "2026-03-01", "2026-03-01T00:00:00Z"),
            ("Europe/Moscow", 0, "2026-03-01", "2026-02-28T21:00:00Z"),
            ("America/New_York", 6, "2026-03-01", "2026-03-01T11:00:00Z"),
            ("UTC", -2, "2026-03-01", "2026-02-28T22:00:00Z"),
            ("UTC", 23, "2026-03-01", "2026-03-01T23:00:00Z"),
            ("Europe/Berlin", 0, "2026-03-30", "2026-03-29T22:00:00Z"),
        ] {
            let found = day_start(day, &of(zone, offset)).unwrap();
            assert_eq!(found, expected.parse().unwrap(), "{zone} {offset} {day}");
        }
        for wrong in ["2026-13-01", "yesterday", "2026-03"] {
            assert_eq!(day_start(wrong, &Calendar::default()), None, "{wrong}");
        }
    }

    #[test]
    fn a_border_is_a_moment_or_a_day_and_not_both() {
        let calendar = Calendar::default();
        let moment = WireTime { seconds: 5, ..WireTime::default() };
        assert_eq!(border("to", Some(&moment), "", &calendar), Ok(Timestamp::new(5, 0).unwrap()));
        let far = WireTime { seconds: i64::MAX, ..WireTime::default() };
        for (moment, day, field, reason) in [
            (None, "", "to", "REQUIRED"),
            (Some(&moment), "2026-03-01", "to_day", "NOT_ALLOWED"),
            (None, "tomorrow", "to_day", "WRONG_DAY"),
            (Some(&far), "", "to", "OUT_OF_RANGE"),
        ] {
            let refusal = border("to", moment, day, &calendar).unwrap_err();
            assert_eq!((&*refusal.fields()[0].field, refusal.reason()), (field, reason));
        }
    }
}
