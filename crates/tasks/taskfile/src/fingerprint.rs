//! The meaning of a task as a digest.

use crate::definition::{self, Secrets};
use crate::task::Task;
use serde_json::{Value, json};
use std::fmt;
use triggers::show_duration;

/// A digest of what a task does. The same meaning has the same fingerprint, whatever the order, the
/// wording or the file, and in every version of Torg. `about`, `owner` and `labels` are not part of
/// it, and the calendar only if the trigger counts chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&text::hex(&self.0))
    }
}

impl Task {
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let meaning = json!([
            "torg task 1",
            trigger_meaning(self),
            calendar_meaning(self),
            run_meaning(self),
            definition::sets(self),
            self.produces.iter().map(ToString::to_string).collect::<Vec<_>>(),
            self.priority,
            self.pool,
            definition::retry(self),
            self.max_silence.map(show_duration),
            show_duration(self.hold_back),
            self.paused,
        ]);
        let digest = blake3::hash(meaning.to_string().as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_bytes()[..16]);
        Fingerprint(bytes)
    }
}

/// The trigger with sorted, distinct members of aggregates.
pub(crate) fn trigger_meaning(task: &Task) -> Value {
    let mut meaning = definition::trigger(&task.trigger);
    sort(&mut meaning);
    meaning
}

fn sort(value: &mut Value) {
    let Value::Object(entries) = value else { return };
    for (_, members) in entries.iter_mut() {
        if let Value::Array(members) = members {
            members.iter_mut().for_each(sort);
            members.sort_by_cached_key(Value::to_string);
            members.dedup();
        }
    }
    // An aggregate whose members are all the same is that member.
    let alone = entries.values().find_map(|members| members.as_array().filter(|members| members.len() == 1));
    if let Some(alone) = alone.and_then(|members| members.first()).cloned() {
        *value = alone;
    }
}

pub(crate) fn calendar_meaning(task: &Task) -> Value {
    let counts = task.trigger.leaves().any(|(_, leaf)| leaf.check.scale().is_some());
    if !counts {
        return Value::Null;
    }
    json!([
        definition::zone_name(task),
        definition::week_start(task),
        show_duration(task.calendar.day_offset())
    ])
}

pub(crate) fn run_meaning(task: &Task) -> Value {
    definition::run(&task.run, Secrets::Kept)
}
