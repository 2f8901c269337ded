//! Warnings about tasks that are valid but probably not meant.

mod cycles;
mod kinds;

use crate::limits::LISTED_MAX;
use crate::notes::Notes;
use crate::problem::Code;
use crate::read::TaskLocations;
use crate::task::{Task, TaskName};
use std::collections::BTreeMap;
use triggers::{Leaf, Parameter};

pub(crate) type Drafts = BTreeMap<TaskName, (Task, TaskLocations)>;

pub(crate) fn all(notes: &mut Notes, drafts: &Drafts) {
    let writers = writers(drafts);
    let least = drafts.values().map(|(task, _)| task.priority).min().unwrap_or_default();
    for (task, spots) in drafts.values() {
        may_loop(notes, task, spots);
        may_never_fire(notes, task, spots);
        waits_for_itself(notes, task, spots, &writers);
        idle_hold_back(notes, task, spots, &writers, least);
    }
    cycles::note(notes, drafts);
    kinds::note(notes, drafts);
}

type Writers<'d> = BTreeMap<&'d Parameter, Vec<&'d TaskName>>;

fn writers(drafts: &Drafts) -> Writers<'_> {
    let mut writers: Writers<'_> = BTreeMap::new();
    for (task, _) in drafts.values() {
        for parameter in task.outputs() {
            writers.entry(parameter).or_default().push(&task.name);
        }
    }
    writers
}

fn may_loop(notes: &mut Notes, task: &Task, spots: &TaskLocations) {
    let Some(way) = task.trigger.may_loop() else { return };
    let message =
        format!("the task `{}` would run again as soon as it has run, as long as {}", task.name, shown(&way));
    notes
        .warning(Code::WouldLoop, spots.when, message)
        .remedy("put them into one `all` with a condition that a run uses up, such as `new_day` or `grew`");
}

fn may_never_fire(notes: &mut Notes, task: &Task, spots: &TaskLocations) {
    if task.max_silence.is_some() {
        return;
    }
    let Some(unsure) = task.trigger.may_never_fire() else { return };
    let message = format!(
        "the task `{}` may never run, unnoticed: it is not certain that {}",
        task.name,
        shown(&unsure)
    );
    notes
        .warning(Code::MayNeverFire, spots.when, message)
        .remedy("write for example `max_silence: 2d`: an alert follows when it has not run for that long");
}

fn shown(leaves: &[&Leaf]) -> String {
    let mut words: Vec<String> = leaves.iter().take(LISTED_MAX).map(ToString::to_string).collect();
    if leaves.len() > LISTED_MAX {
        words.push("...".to_owned());
    }
    words.join(", and ")
}

/// A task should not write what its own condition reads, except as a reference.
fn waits_for_itself(notes: &mut Notes, task: &Task, spots: &TaskLocations, writers: &Writers<'_>) {
    let mut leaves = task.trigger.leaves().map(|(_, leaf)| leaf);
    let Some(leaf) = leaves.find(|leaf| task.outputs().any(|own| *own == leaf.of)) else { return };
    let alone = writers.get(&leaf.of).is_some_and(|writers| writers.len() == 1);
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

fn idle_hold_back(notes: &mut Notes, task: &Task, spots: &TaskLocations, writers: &Writers<'_>, least: i32) {
    let Some(place) = spots.hold_back.filter(|_| !task.hold_back.is_zero()) else { return };
    let fed = task.trigger.parameters().into_iter().any(|parameter| {
        writers.get(parameter).is_some_and(|writers| writers.iter().any(|maker| **maker != task.name))
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
