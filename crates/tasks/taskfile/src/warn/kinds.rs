//! Parameters that one task uses as a time and another as a number: one of the conditions can never
//! hold.

use super::Drafts;
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::task::{SetTo, TaskName};
use std::collections::{BTreeMap, BTreeSet};
use triggers::{Kind, Parameter};

pub(super) fn note(notes: &mut Notes, drafts: &Drafts) {
    let mut first: BTreeMap<&Parameter, (Kind, Location, &TaskName)> = BTreeMap::new();
    let mut reported = BTreeSet::new();
    for (task, spots) in drafts.values() {
        let looks = task.trigger.leaves().flat_map(|(_, leaf)| {
            let both = std::iter::once(&leaf.of).chain(leaf.reference());
            both.map(|parameter| (parameter, leaf.check.kind(), spots.when))
        });
        let sets = task.sets.iter().filter_map(|(parameter, to)| {
            let kind = match to {
                SetTo::Seen(_) => return None,
                SetTo::Now => Kind::Time,
                SetTo::Number(_) => Kind::Number,
            };
            Some((parameter, kind, spots.outputs.unwrap_or(spots.name)))
        });
        for (parameter, kind, place) in looks.chain(sets) {
            let known = *first.entry(parameter).or_insert((kind, place, &task.name));
            if known.0 != kind && reported.insert(parameter) {
                let message = format!("the task `{}` takes `{parameter}` for {kind}", task.name);
                notes
                    .warning(Code::MixedKinds, place, message)
                    .related(known.1, format!("the task `{}` takes it for {}", known.2, known.0))
                    .remedy("a parameter is one or the other: a condition that takes it for the wrong one never holds");
            }
        }
    }
}
