//! The parts of files besides tasks.

use super::calendar::{CalendarParts, Zones, day_offset, weekday};
use super::fields::{Fields, entries};
use super::run::RunDefaults;
use super::scalar;
use super::settings::Settings;
use super::shorthand::{self, Shorthands};
use crate::keywords::{DEFAULTS, FILE, LIMITS};
use crate::limits::{POOLS_MAX, RUNNING_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::task::Limits;
use crate::yaml::{Node, Visitor, Want};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct FileDefaults {
    pub(super) settings: Settings,
    pub(super) run: RunDefaults,
}

#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) calendar: CalendarParts,
    pub(super) limits: Limits,
    pub(super) shorthands: Shorthands,
    /// By file index.
    pub(super) defaults: BTreeMap<u32, FileDefaults>,
    /// Settings that may occur only once in all files.
    once: BTreeMap<String, Location>,
    /// A shorthand has errors of its own, so a missing one may be meant to exist.
    pub(super) lost_shorthand: bool,
    pub(super) zones: Zones,
}

impl<'t> Visitor<'t> for Head {
    fn want(&self, key: &str) -> Want {
        if key == "tasks" { Want::Nothing } else { Want::Whole }
    }

    fn whole(&mut self, notes: &mut Notes, key: &Node<'t>, value: Node<'t>) {
        let name = key.as_text().unwrap_or_default();
        if matches!(name, "timezone" | "week_start" | "day_offset" | "limits") {
            if let Some(first) = self.once.get(name) {
                let message = format!("`{name}` holds for all files, and another file has it already");
                notes
                    .error(Code::Duplicate, key.place, message)
                    .related(*first, "the first one is here")
                    .remedy("remove one of the two; for the tasks of one file, write it under `defaults`");
                return;
            }
            self.once.insert(name.to_owned(), key.place);
        }
        match name {
            "timezone" => self.calendar.zone = self.zones.read(notes, &value),
            "week_start" => self.calendar.week_start = weekday(notes, &value),
            "day_offset" => self.calendar.day_offset = day_offset(notes, &value),
            "limits" => self.limits(notes, &value),
            "defaults" => self.defaults(notes, &value),
            "shorthands" => {
                let before = notes.errors();
                shorthand::read(notes, &value, &mut self.shorthands);
                self.lost_shorthand |= notes.errors() > before;
            }
            _ => {
                let known = FILE.iter().map(|(name, _)| *name);
                let message = format!("a task file has no key `{}`", crate::quote(name));
                let note = notes.error(Code::UnknownKey, key.place, message);
                let task = entries(&value).is_some_and(|entries| {
                    entries.iter().any(|(key, _)| matches!(key.as_text(), Some("when" | "run")))
                });
                if task {
                    note.remedy("put tasks under `tasks:`, indented");
                } else {
                    note.remedy(suggest::remedy(name, known, "its keys"));
                }
            }
        }
    }

    fn entry(&mut self, _: &mut Notes, _: &Node<'t>, _: Node<'t>) {}
}

impl Head {
    fn defaults(&mut self, notes: &mut Notes, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        let Some(fields) = Fields::of(notes, node, "`defaults`", DEFAULTS) else { return };
        let settings = Settings::read(notes, &fields, &mut self.zones);
        let run = RunDefaults::read(notes, &fields);
        self.defaults.insert(node.place.file, FileDefaults { settings, run });
    }

    fn limits(&mut self, notes: &mut Notes, node: &Node<'_>) {
        let Some(fields) = Fields::of(notes, node, "`limits`", LIMITS) else { return };
        if let Some(running) = fields.get("running").and_then(|node| running(notes, node, "`running`")) {
            self.limits.running = running;
        }
        let Some(pools) = fields.get("pools").filter(|pools| !pools.is_null()) else { return };
        let Some(entries) = entries(pools) else {
            let message = format!("`pools` is a mapping, not {}", pools.what());
            notes.error(Code::WrongType, pools.place, message).remedy("write `{clickhouse: 2, reports: 4}`");
            return;
        };
        if entries.len() > POOLS_MAX {
            notes.error(Code::TooLarge, pools.place, format!("there are more than {POOLS_MAX} pools"));
            return;
        }
        for (key, value) in entries {
            let Some(name) = scalar::name(notes, key, "the name of a pool") else { continue };
            let limit = if value.is_null() {
                let message = format!("the pool `{name}` has no limit, so it limits nothing");
                let remedy = format!("write how many runs there may be at the same time: `{name}: 2`");
                notes.warning(Code::UnlimitedPool, key.place, message).remedy(remedy);
                None
            } else {
                // A pool with a wrong limit still exists: its tasks are not reported.
                running(notes, value, &format!("the limit of the pool `{name}`"))
            };
            self.limits.pools.insert(name.to_owned(), limit);
        }
    }
}

fn running(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<u32> {
    let count = scalar::integer(notes, node, what, 1..=RUNNING_MAX)?;
    u32::try_from(count).ok()
}
