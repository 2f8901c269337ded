//! What a task says of itself, or a file of all its tasks.

use super::calendar::{CalendarParts, Zones};
use super::fields::{Fields, entries};
use super::scalar;
use crate::keywords::RETRY;
use crate::limits::{
    ATTEMPTS_DEFAULT, ATTEMPTS_MAX, DURATION_MAX, LABELS_MAX, LINE_CHARS_MAX, PRIORITY_MAX,
    RETRY_FIRST_DEFAULT, RETRY_MOST_DEFAULT,
};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::task::Retry;
use crate::yaml::Node;
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// Settings of a task or a file; missing ones are inherited.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) owner: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) priority: Option<i32>,
    pub(super) pool: Option<(String, Location)>,
    pub(super) retry: RetryParts,
    pub(super) max_silence: Option<SignedDuration>,
    pub(super) hold_back: Option<(SignedDuration, Location)>,
    pub(super) paused: Option<bool>,
    pub(super) calendar: CalendarParts,
}

impl Settings {
    pub(super) fn read(notes: &mut Notes, fields: &Fields<'_, '_>, zones: &mut Zones) -> Self {
        let priority = fields.get("priority").and_then(|node| {
            let number = scalar::integer(notes, node, "`priority`", -PRIORITY_MAX..=PRIORITY_MAX)?;
            i32::try_from(number).ok()
        });
        Self {
            owner: fields
                .get("owner")
                .and_then(|node| scalar::line(notes, node, "`owner`", LINE_CHARS_MAX).map(str::to_owned)),
            labels: fields.get("labels").map(|node| labels(notes, node)).unwrap_or_default(),
            priority,
            pool: fields.get("pool").and_then(|node| {
                scalar::name(notes, node, "`pool`").map(|name| (name.to_owned(), node.place))
            }),
            retry: fields.get("retry").map(|node| RetryParts::read(notes, node)).unwrap_or_default(),
            max_silence: fields
                .get("max_silence")
                .and_then(|node| scalar::positive(notes, node, "`max_silence`", DURATION_MAX)),
            hold_back: fields.entry("hold_back").and_then(|(key, node)| {
                let found = scalar::duration(notes, node, "`hold_back`", DURATION_MAX)?;
                Some((found, key.place))
            }),
            paused: fields.get("paused").and_then(|node| scalar::boolean(notes, node, "`paused`")),
            calendar: CalendarParts::read(notes, fields, zones),
        }
    }

    /// These settings, or else the others; labels are merged.
    pub(super) fn or(mut self, other: &Self) -> Self {
        for (name, value) in &other.labels {
            self.labels.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Self {
            owner: self.owner.or_else(|| other.owner.clone()),
            labels: self.labels,
            priority: self.priority.or(other.priority),
            pool: self.pool.or_else(|| other.pool.clone()),
            retry: self.retry.or(other.retry),
            max_silence: self.max_silence.or(other.max_silence),
            hold_back: self.hold_back.or(other.hold_back),
            paused: self.paused.or(other.paused),
            calendar: self.calendar.or(&other.calendar),
        }
    }
}

fn labels(notes: &mut Notes, node: &Node<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Some(entries) = entries(node) else {
        let message = format!("`labels` is a mapping, not {}", node.what());
        notes.error(Code::WrongType, node.place, message).remedy("write `{team: sales, layer: reports}`");
        return found;
    };
    if entries.len() > LABELS_MAX {
        notes.error(Code::TooLarge, node.place, format!("there are more than {LABELS_MAX} labels"));
        return found;
    }
    for (key, value) in entries {
        let name = scalar::name(notes, key, "the name of a label");
        let value = scalar::line(notes, value, "the value of a label", LINE_CHARS_MAX);
        if let (Some(name), Some(value)) = (name, value) {
            found.insert(name.to_owned(), value.to_owned());
        }
    }
    found
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetryParts {
    first: Option<SignedDuration>,
    most: Option<SignedDuration>,
    attempts: Option<u32>,
}

impl RetryParts {
    fn read(notes: &mut Notes, node: &Node<'_>) -> Self {
        let Some(fields) = Fields::of(notes, node, "`retry`", RETRY) else { return Self::default() };
        let mut pause = |key: &str| {
            fields.get(key).and_then(|node| scalar::positive(notes, node, &format!("`{key}`"), DURATION_MAX))
        };
        let (first, most) = (pause("first"), pause("most"));
        if let (Some(first), Some(most), Some((key, _))) = (first, most, fields.entry("most"))
            && most < first
        {
            let message = "`most` is shorter than `first`: pauses grow from the first to the most";
            notes.error(Code::Conflict, key.place, message).remedy("make it longer");
        }
        let attempts = fields.get("attempts").and_then(|node| {
            let count = scalar::integer(notes, node, "`attempts`", 1..=ATTEMPTS_MAX)?;
            u32::try_from(count).ok()
        });
        Self { first, most, attempts }
    }

    fn or(self, other: Self) -> Self {
        Self {
            first: self.first.or(other.first),
            most: self.most.or(other.most),
            attempts: self.attempts.or(other.attempts),
        }
    }

    /// With defaults; delays never shrink.
    pub(super) fn whole(self) -> Retry {
        let (first, most) = match (self.first, self.most) {
            (Some(first), Some(most)) => (first, most),
            (Some(first), None) => (first, RETRY_MOST_DEFAULT.max(first)),
            (None, Some(most)) => (RETRY_FIRST_DEFAULT.min(most), most),
            (None, None) => (RETRY_FIRST_DEFAULT, RETRY_MOST_DEFAULT),
        };
        Retry { first, most: most.max(first), attempts: self.attempts.unwrap_or(ATTEMPTS_DEFAULT) }
    }
}
