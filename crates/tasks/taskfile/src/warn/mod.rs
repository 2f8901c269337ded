//! Tasks that do what they say, which is perhaps not what was meant.

mod cycles;
mod kinds;

use crate::limits::LISTED_MAX;
use crate::notes::Notes;
use crate::problem::Code;
use crate::read::Spots;
use crate::task::{Task, TaskName};
use std::collections::BTreeMap;
use triggers::{Leaf, Parameter};

pub(crate) type Drafts = BTreeMap<TaskName, (Task, Spots)>;

/// Notes all warnings that concern more than one value.
pub(crate) fn all(notes: &mut Notes, drafts: &Drafts) {
    let makers = makers(drafts);
    let least = drafts.values().map(|(task, _)| task.priority).min().unwrap_or_default();
    for (task, spots) in drafts.values() {
        may_loop(notes, task, spots);
        may_never_fire(notes, task, spots);
        waits_for_itself(notes, task, spots, &makers);
        idle_hold_back(notes, task, spots, &makers, least);
    }
    cycles::note(notes, drafts);
    kinds::note(notes, drafts);
}

type Makers<'d> = BTreeMap<&'d Parameter, Vec<&'d TaskName>>;

fn makers(drafts: &Drafts) -> Makers<'_> {
    let mut makers: Makers<'_> = BTreeMap::new();
    for (task, _) in drafts.values() {
        for parameter in task.outputs() {
            makers.entry(parameter).or_default().push(&task.name);
        }
    }
    makers
}

fn may_loop(notes: &mut Notes, task: &Task, spots: &Spots) {
    let Some(way) = task.trigger.may_loop() else { return };
    let message =
        format!("the task `{}` would run again as soon as it has run, as long as {}", task.name, shown(&way));
    notes
        .warning(Code::WouldLoop, spots.when, message)
        .remedy("put them into one `all` with a condition that a run uses up, such as `new_day` or `grew`");
}

fn may_never_fire(notes: &mut Notes, task: &Task, spots: &Spots) {
    if task.max_silence.is_some() {
        return;
    }
    let Some(unsure) = task.trigger.may_never_fire() else { return };
    let message = format!(
        "the task `{}` may never run, and nobody would notice: it is not sure that {}",
        task.name,
        shown(&unsure)
    );
    notes
        .warning(Code::MayNeverFire, spots.when, message)
        .remedy("write for example `max_silence: 2d`: somebody is told when it has not run for so long");
}

/// Conditions in words.
fn shown(leaves: &[&Leaf]) -> String {
    let mut words: Vec<String> = leaves.iter().take(LISTED_MAX).map(ToString::to_string).collect();
    if leaves.len() > LISTED_MAX {
        words.push("...".to_owned());
    }
    words.join(", and ")
}

/// What a task moves should not be what it looks at, other than to compare something else with it.
fn waits_for_itself(notes: &mut Notes, task: &Task, spots: &Spots, makers: &Makers<'_>) {
    let mut leaves = task.trigger.leaves().map(|(_, leaf)| leaf);
    let Some(leaf) = leaves.find(|leaf| task.outputs().any(|own| *own == leaf.of)) else { return };
    let alone = makers.get(&leaf.of).is_some_and(|makers| makers.len() == 1);
    let moved = if alone { "which it alone moves" } else { "which it moves itself" };
    let effect =
        if leaf.check.is_delta() { "each run starts the next one" } else { "it waits for its own result" };
    let message = format!("the task `{}` waits on `{}`, {moved}: {effect}", task.name, leaf.of);
    let note = notes.warning(Code::WaitsForItself, spots.when, message);
    if let Some(outputs) = spots.outputs {
        note.related(outputs, "it is moved here");
    }
    note.remedy("wait on what the task reads, and set a parameter that is its own");
}

fn idle_hold_back(notes: &mut Notes, task: &Task, spots: &Spots, makers: &Makers<'_>, least: i32) {
    let Some(place) = spots.hold_back.filter(|_| !task.hold_back.is_zero()) else { return };
    let fed = task.trigger.parameters().into_iter().any(|parameter| {
        makers.get(parameter).is_some_and(|makers| makers.iter().any(|maker| **maker != task.name))
    });
    if !fed {
        let message =
            format!("nothing is ever held back for the task `{}`: no task makes what it waits on", task.name);
        let remedy =
            "say under `sets` or `produces` of the tasks that feed it what they move, or remove `hold_back`";
        notes.warning(Code::IdleHoldBack, place, message).remedy(remedy);
    } else if task.priority <= least {
        let message =
            format!("nothing is ever held back for the task `{}`: no task is less important", task.name);
        let remedy = format!("give it a `priority` above {least}, or remove `hold_back`");
        notes.warning(Code::IdleHoldBack, place, message).remedy(remedy);
    }
}
