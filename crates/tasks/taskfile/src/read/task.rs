//! Tasks, one by one.

use super::fields::{Fields, entries};
use super::head::{FileDefaults, Head};
use super::settings::Settings;
use super::trigger::Triggers;
use super::{run, scalar};
use crate::keywords::TASK;
use crate::limits::{ABOUT_CHARS_MAX, HOLD_BACK_DEFAULT, SETS_MAX, TASKS_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::suggest;
use crate::task::{Origin, SetTo, Task, TaskName};
use crate::yaml::{Node, Visitor, Want};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use triggers::{Parameter, Trigger};

#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLocations {
    pub(crate) name: Location,
    pub(crate) when: Location,
    /// Of `sets`, or else of `produces`.
    pub(crate) outputs: Option<Location>,
    /// If the task itself sets it.
    pub(crate) hold_back: Option<Location>,
}

pub(super) struct Tasks<'h> {
    head: &'h mut Head,
    triggers: Triggers<'h>,
    complete: bool,
    no_defaults: FileDefaults,
    file: Arc<str>,
    pub(super) found: BTreeMap<TaskName, (Task, TaskLocations)>,
    /// Errors kept before the task that was read last.
    pub(super) before_last: usize,
    /// The task limit was exceeded, which is reported once.
    full: bool,
    /// Every named task, including those with errors.
    names: BTreeMap<TaskName, Location>,
}

impl<'h> Tasks<'h> {
    pub(super) fn new(
        head: &'h mut Head,
        shorthands: &'h super::shorthand::Shorthands,
        complete: bool,
    ) -> Self {
        Self {
            head,
            triggers: Triggers::new(shorthands, complete),
            complete,
            no_defaults: FileDefaults::default(),
            file: Arc::from(""),
            found: BTreeMap::new(),
            before_last: 0,
            full: false,
            names: BTreeMap::new(),
        }
    }

    pub(super) fn begin(&mut self, file: &str, notes: &Notes) {
        self.before_last = notes.kept_errors();
        self.file = Arc::from(file);
    }

    fn task(
        &mut self,
        notes: &mut Notes,
        name: TaskName,
        key: Location,
        node: &Node<'_>,
    ) -> Option<(Task, TaskLocations)> {
        let what = format!("the task `{name}`");
        let fields = Fields::of(notes, node, &what, TASK)?;
        let about =
            fields.get("about").and_then(|node| scalar::line(notes, node, "`about`", ABOUT_CHARS_MAX));
        let about = about.map(|about| about.trim().to_owned()).unwrap_or_default();
        let defaults = self.head.defaults.get(&key.file).unwrap_or(&self.no_defaults);
        let settings = Settings::read(notes, &fields, &mut self.head.zones);
        let own_hold_back = settings.hold_back.map(|(_, place)| place);
        let settings = settings.or(&defaults.settings);
        let remedy = "say when it runs: `when: {new_day: sales.loaded_to}`";
        let when = fields.need(notes, "when", key, &what, remedy);
        let trigger = when.and_then(|node| self.triggers.read(notes, node));
        let remedy = "say what it runs: `run: {command: [python3, report.py]}`";
        let run = fields.need(notes, "run", key, &what, remedy);
        let run = run.and_then(|node| {
            let place = fields.entry("run").map_or(key, |(key, _)| key.place);
            run::read(notes, place, node, &defaults.run)
        });
        let sets = fields.get("sets").map(|node| sets(notes, node, trigger.as_ref())).unwrap_or_default();
        let produces =
            fields.get("produces").map(|node| scalar::parameters(notes, node, "`produces`", SETS_MAX));
        let produces: BTreeSet<Parameter> =
            produces.into_iter().flatten().filter(|parameter| !sets.contains_key(parameter)).collect();
        if let Some((pool, place)) = settings.pool.as_ref().filter(|_| self.complete) {
            self.known_pool(notes, pool, *place);
        }
        let place_of = |key: &str| fields.entry(key).map(|(key, _)| key.place);
        let spots = TaskLocations {
            name: key,
            when: place_of("when").unwrap_or(key),
            outputs: place_of("sets").or_else(|| place_of("produces")),
            hold_back: own_hold_back,
        };
        let calendar = settings.calendar.or(&self.head.calendar);
        let task = Task {
            name,
            about,
            owner: settings.owner.unwrap_or_default(),
            labels: settings.labels,
            trigger: trigger?,
            calendar: self.head.zones.calendar(&calendar),
            run: run?,
            sets,
            produces,
            priority: settings.priority.unwrap_or_default(),
            pool: settings.pool.map(|(pool, _)| pool),
            retry: settings.retry.whole(),
            max_silence: settings.max_silence,
            hold_back: settings.hold_back.map_or(HOLD_BACK_DEFAULT, |(hold_back, _)| hold_back),
            paused: settings.paused.unwrap_or_default(),
            origin: Origin { file: self.file.clone(), at: key.at },
        };
        Some((task, spots))
    }

    fn known_pool(&self, notes: &mut Notes, pool: &str, place: Location) {
        let pools = &self.head.limits.pools;
        if pools.contains_key(pool) {
            return;
        }
        let names = pools.keys().map(String::as_str);
        let remedy = match suggest::meant(pool, names.clone()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("{}; add it to `limits`: `pools: {{{pool}: 2}}`", suggest::list(names, "pools")),
        };
        notes.error(Code::UnknownPool, place, format!("there is no pool `{pool}`")).remedy(remedy);
    }
}

impl<'t> Visitor<'t> for Tasks<'_> {
    fn want(&self, key: &str) -> Want {
        if key == "tasks" { Want::Entries } else { Want::Nothing }
    }

    fn whole(&mut self, _: &mut Notes, _: &Node<'t>, _: Node<'t>) {}

    fn entry(&mut self, notes: &mut Notes, key: &Node<'t>, value: Node<'t>) {
        self.before_last = notes.kept_errors();
        let Some(name) = scalar::name(notes, key, "the name of a task") else { return };
        if let Some(first) = self.names.get(name) {
            notes
                .error(Code::Duplicate, key.place, format!("there is already a task `{name}`"))
                .related(*first, "the first one is here")
                .remedy("remove or rename one of the two");
            return;
        }
        if self.names.len() >= TASKS_MAX {
            if !std::mem::replace(&mut self.full, true) {
                notes.error(Code::TooLarge, key.place, format!("there are more than {TASKS_MAX} tasks"));
            }
            return;
        }
        let name = TaskName::new(name);
        self.names.insert(name.clone(), key.place);
        if let Some(task) = self.task(notes, name.clone(), key.place, &value) {
            self.found.insert(name, task);
        }
    }
}

fn sets(notes: &mut Notes, node: &Node<'_>, trigger: Option<&Trigger>) -> BTreeMap<Parameter, SetTo> {
    let mut found = BTreeMap::new();
    let Some(entries) = entries(node) else {
        let message = format!("`sets` is a mapping, not {}", node.what());
        let remedy = "write `{report.made_to: sales.loaded_to}`; parameters that the run itself writes belong under `produces`";
        notes.error(Code::WrongType, node.place, message).remedy(remedy);
        return found;
    };
    if entries.len() > SETS_MAX {
        notes.error(Code::TooLarge, node.place, format!("`sets` has more than {SETS_MAX} parameters"));
        return found;
    }
    for (key, value) in entries {
        let Some(parameter) = scalar::parameter(notes, key, "a key of `sets`") else { continue };
        if let Some(to) = set_to(notes, &parameter, key.place, value, trigger) {
            found.insert(parameter, to);
        }
    }
    found
}

fn set_to(
    notes: &mut Notes,
    parameter: &Parameter,
    key: Location,
    value: &Node<'_>,
    trigger: Option<&Trigger>,
) -> Option<SetTo> {
    let text = value.as_text().unwrap_or_default();
    if text == "now" {
        return Some(SetTo::Now);
    }
    if let Some(number) = value.as_plain().and_then(|text| text.parse().ok()) {
        return Some(SetTo::Number(number));
    }
    if value.is_null() || !text.contains('.') {
        let message = format!("`{parameter}` cannot be set to {}", value.what());
        let remedy = "write a parameter of `when`, `now`, or a number";
        return notes.refuse(Code::BadSet, value.place, message, remedy);
    }
    let source = scalar::parameter(notes, value, &format!("what `{parameter}` is set to"))?;
    if source == *parameter {
        let message = format!("`{parameter}` is set to itself, which changes nothing");
        let remedy = "set it to another parameter of `when`, to `now`, or to a number";
        return notes.refuse(Code::BadSet, key, message, remedy);
    }
    let seen = trigger?.parameters();
    if !seen.contains(&source) {
        let names: Vec<String> = seen.iter().map(ToString::to_string).collect();
        let message = format!("`{source}` is not in `when`, so no value of it is seen when the task runs");
        let remedy = suggest::remedy(text, names.iter().map(String::as_str), "parameters of `when`");
        return notes.refuse(Code::BadSet, value.place, message, remedy);
    }
    Some(SetTo::Seen(source))
}
