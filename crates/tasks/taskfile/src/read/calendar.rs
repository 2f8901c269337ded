//! Time zones, weeks and days.

use super::fields::Fields;
use super::scalar;
use crate::keywords::WEEKDAYS;
use crate::limits::{DAY_OFFSET_MAX, LINE_CHARS_MAX};
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::yaml::{Kind, Node};
use jiff::SignedDuration;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::collections::BTreeMap;
use triggers::{Calendar, find_zone, show_duration, zone_names};

/// Abbreviations that are no zone of the database, and their usual meaning.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("msk", "Europe/Moscow"),
    ("bst", "Europe/London"),
    ("cest", "Europe/Berlin"),
    ("edt", "America/New_York"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("cdt", "America/Chicago"),
    ("ist", "Asia/Kolkata"),
    ("jst", "Asia/Tokyo"),
];

/// The calendar settings of one place; missing ones are inherited.
#[derive(Clone, Debug, Default)]
pub(super) struct CalendarParts {
    pub(super) zone: Option<TimeZone>,
    pub(super) week_start: Option<Weekday>,
    pub(super) day_offset: Option<SignedDuration>,
}

impl CalendarParts {
    pub(super) fn read(notes: &mut Notes, fields: &Fields<'_, '_>, zones: &mut Zones) -> Self {
        Self {
            zone: fields.get("timezone").and_then(|node| zones.read(notes, node)),
            week_start: fields.get("week_start").and_then(|node| weekday(notes, node)),
            day_offset: fields.get("day_offset").and_then(|node| day_offset(notes, node)),
        }
    }

    /// These settings, or else the others.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            zone: self.zone.clone().or_else(|| other.zone.clone()),
            week_start: self.week_start.or(other.week_start),
            day_offset: self.day_offset.or(other.day_offset),
        }
    }
}

/// A cache of zones and calendars: files name the same few again and again.
#[derive(Debug, Default)]
pub(super) struct Zones {
    zones: BTreeMap<String, Option<TimeZone>>,
    calendars: BTreeMap<(String, i8, SignedDuration), Calendar>,
}

impl Zones {
    pub(super) fn read(&mut self, notes: &mut Notes, node: &Node<'_>) -> Option<TimeZone> {
        let name = scalar::line(notes, node, "`timezone`", LINE_CHARS_MAX)?;
        let known = self.zones.get(name).cloned().unwrap_or_else(|| {
            let found = find_zone(name).ok();
            self.zones.insert(name.to_owned(), found.clone());
            found
        });
        if known.is_none() {
            let message = format!("there is no time zone `{}`", crate::quote(name));
            notes.error(Code::BadCalendar, node.place, message).remedy(zone_remedy(name));
        }
        known
    }

    /// Defaults to UTC, Monday and midnight.
    pub(super) fn calendar(&mut self, parts: &CalendarParts) -> Calendar {
        let zone = parts.zone.clone().unwrap_or(TimeZone::UTC);
        let week_start = parts.week_start.unwrap_or(Weekday::Monday);
        let day_offset = parts.day_offset.unwrap_or_default();
        let name = zone.iana_name().unwrap_or_default().to_owned();
        let key = (name, week_start.to_monday_zero_offset(), day_offset);
        // The offset was checked when it was read.
        let make = || Calendar::new(zone, week_start, day_offset).unwrap_or_default();
        self.calendars.entry(key).or_insert_with(make).clone()
    }
}

fn zone_remedy(name: &str) -> String {
    let lower = name.to_lowercase();
    if let Some((_, zone)) = ABBREVIATIONS.iter().find(|(short, _)| *short == lower) {
        return format!("did you mean `{zone}`?");
    }
    if lower.contains(['+', ':']) || lower.starts_with('-') {
        return "a difference to UTC does not know summer time: write the name of a place, such as `Europe/Moscow`".to_owned();
    }
    let names: Vec<&str> = zone_names().collect();
    let city = |name: &&str| name.to_lowercase().rsplit('/').next() == Some(&lower.replace(' ', "_"));
    let meant = names.iter().copied().find(city);
    match meant.or_else(|| suggest::meant(name, names.iter().copied())) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "write a name of the IANA database, such as `Europe/Moscow`, `America/New_York` or `UTC`"
            .to_owned(),
    }
}

pub(super) fn weekday(notes: &mut Notes, node: &Node<'_>) -> Option<Weekday> {
    let name = scalar::line(notes, node, "`week_start`", LINE_CHARS_MAX)?;
    if let Some(day) = WEEKDAYS.iter().position(|known| *known == name) {
        return Weekday::from_monday_zero_offset(day as i8).ok();
    }
    let short = WEEKDAYS.iter().find(|day| name.len() >= 2 && day.starts_with(&name.to_lowercase()));
    let remedy = match short {
        Some(day) => format!("did you mean `{day}`?"),
        None => suggest::remedy(name, WEEKDAYS.iter().copied(), "days"),
    };
    let message = format!("`week_start` is `{}`, which is no day of the week", crate::quote(name));
    notes.refuse(Code::BadCalendar, node.place, message, remedy)
}

/// The only duration that may be negative: days may begin on the evening before.
pub(super) fn day_offset(notes: &mut Notes, node: &Node<'_>) -> Option<SignedDuration> {
    let negative = node.as_text().and_then(|text| text.strip_prefix('-'));
    let bare = match (&node.kind, negative) {
        (Kind::Scalar { style, .. }, Some(text)) => Cow::Owned(Node::scalar(node.place, text, *style)),
        _ => Cow::Borrowed(node),
    };
    let offset = scalar::duration(notes, &bare, "`day_offset`", DAY_OFFSET_MAX)?;
    let offset = if negative.is_some() { -offset } else { offset };
    if Calendar::new(TimeZone::UTC, Weekday::Monday, offset).is_ok() {
        return Some(offset);
    }
    let message =
        format!("`day_offset` is {}: it must be whole minutes and less than 24h", show_duration(offset));
    notes.refuse(Code::BadCalendar, node.place, message, "")
}
