//! Formats values and their changes as text.

use buffa_types::google::protobuf::Timestamp as WireTime;
use jiff::Timestamp;
use wire::torg::tasks::v1::{CtlCurrent, CtlDone, CtlPast, SeenValue, seen_value};

use terminal::{moment_in_table, one_line, table};

const NO_VALUE: &str = "no value";

pub(super) fn values(values: &[CtlCurrent]) -> Vec<String> {
    if values.is_empty() {
        return Vec::new();
    }
    let head = ["PARAMETER", "VALUE", "VERSION", "CHANGED", "BY"].map(str::to_owned);
    let rows = values.iter().map(|current| {
        [
            current.parameter.clone(),
            value(current.value.as_option()),
            current.version.to_string(),
            moment_in_table(current.change_time.as_option()),
            current.author.clone(),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn done(done: &CtlDone) -> String {
    let CtlDone { parameter, version, changed, moved_back, .. } = done;
    let (before, after) = (value(done.before.as_option()), value(done.after.as_option()));
    let version = if *version == 0 { String::new() } else { format!(" (version {version})") };
    match (changed, moved_back) {
        (false, _) if done.after.is_set() => format!("{parameter} is {after} already{version}"),
        (false, _) => format!("{parameter} has no value already"),
        (true, false) => format!("{parameter}: {before} -> {after}{version}"),
        (true, true) => format!("{parameter}: {before} -> {after}{version}, moved back"),
    }
}

pub(super) fn history(changes: &[CtlPast]) -> Vec<String> {
    let head = ["VERSION", "CHANGED", "BY", "BEFORE", "AFTER", "", "REASON"].map(str::to_owned);
    let rows = changes.iter().map(|change| {
        [
            change.version.to_string(),
            moment_in_table(change.change_time.as_option()),
            change.author.clone(),
            value(change.before.as_option()),
            value(change.after.as_option()),
            if change.moved_back { "moved back" } else { "" }.to_owned(),
            one_line(&change.reason),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// One line of a watch.
pub(super) fn told(current: &CtlCurrent) -> String {
    let parameter = &current.parameter;
    let at = moment_in_table(current.change_time.as_option());
    let by = if at.is_empty() { String::new() } else { format!("by {} at {at}", current.author) };
    match (current.value.as_option(), &*by) {
        (Some(now), by) => {
            format!("{parameter} = {} (version {}, {by})", value(Some(now)), current.version)
        }
        (None, "") => format!("{parameter} has no value"),
        (None, by) => format!("{parameter} has no value (deleted {by})"),
    }
}

pub(crate) fn value(value: Option<&SeenValue>) -> String {
    match value.and_then(|value| value.kind.as_ref()) {
        None => NO_VALUE.to_owned(),
        Some(seen_value::Kind::Number(number)) => number.to_string(),
        Some(seen_value::Kind::Time(time)) => exactly(time),
    }
}

/// A time in full, to the nanosecond: a value is never rounded.
fn exactly(time: &WireTime) -> String {
    let time = Timestamp::new(time.seconds, time.nanos).ok();
    time.map_or_else(String::new, |time| time.to_string())
}
