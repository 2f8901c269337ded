//! From files to tasks: once through all files for what holds for all tasks, and once more for the
//! tasks, one by one.

mod arguments;
mod calendar;
mod calls;
mod condition;
mod fields;
mod head;
mod run;
mod scalar;
mod settings;
mod shorthand;
mod task;
mod texts;
mod trigger;

pub(crate) use task::TaskLocations;

use crate::limits::{FILE_BYTES_MAX, FILES_MAX, TOTAL_BYTES_MAX};
use crate::location::Location;
use crate::notes::{File, Notes};
use crate::problem::{Code, Errors};
use crate::set::TaskSet;
use crate::warn;
use crate::yaml;
use head::Head;
use std::sync::Arc;
use task::Tasks;

/// Reads all files, or returns everything that is wrong with them.
pub(crate) fn read(mut files: Vec<File>) -> Result<TaskSet, Errors> {
    files.sort();
    let mut notes = Notes::default();
    if too_large(&mut notes, &files) {
        return Err(errors(notes, &files));
    }
    let mut head = Head::default();
    let mut whole = Vec::new();
    for (number, (_, text)) in (0..).zip(&files) {
        whole.push(yaml::walk(number, text, false, &mut notes, &mut head).is_ok());
    }
    let mut shorthands = std::mem::take(&mut head.shorthands);
    // A broken shorthand has been noted; its absence where it is used is not reported.
    let before = notes.errors();
    shorthand::refuse_recursion(&mut notes, &mut shorthands);
    let known = !whole.contains(&false) && notes.errors() == before && !head.lost_shorthand;
    let mut tasks = Tasks::new(&mut head, &shorthands, known);
    for ((number, (name, text)), whole) in (0..).zip(&files).zip(whole) {
        tasks.begin(name, &notes);
        // What breaks a file was noted when it was read first, or is noted now.
        let broken = yaml::walk(number, text, true, &mut notes, &mut tasks).is_err();
        if broken && !whole {
            // The task before the break may be truncated: what seems missing may stand after it.
            notes.errors_from(tasks.before_last);
        }
    }
    let tasks = tasks.found;
    if notes.errors() > 0 {
        return Err(errors(notes, &files));
    }
    warn::all(&mut notes, &tasks);
    let calendar = head.zones.calendar(&head.calendar);
    let more_warnings = notes.more_warnings();
    let (_, warnings) = notes.into_problems(&files);
    let tasks = tasks.into_iter().map(|(name, (task, _))| (name, Arc::new(task))).collect();
    Ok(TaskSet::new(tasks, calendar, head.limits, warnings, more_warnings))
}

fn errors(notes: Notes, files: &[File]) -> Errors {
    let more = notes.more_errors();
    Errors { errors: notes.into_problems(files).0, more }
}

fn too_large(notes: &mut Notes, files: &[File]) -> bool {
    if files.len() > FILES_MAX {
        let message = format!("there are more than {FILES_MAX} files");
        notes
            .error(Code::TooLarge, Location::new(0, 1, 1), message)
            .remedy("put tasks together into fewer files");
    }
    for (number, (_, text)) in (0..).zip(files) {
        if text.len() > FILE_BYTES_MAX {
            let message = format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20);
            notes
                .error(Code::TooLarge, Location::new(number, 1, 1), message)
                .remedy("split it into several files");
        }
    }
    if files.iter().map(|(_, text)| text.len()).sum::<usize>() > TOTAL_BYTES_MAX {
        let message = format!("all files together are larger than {} MiB", TOTAL_BYTES_MAX >> 20);
        notes.error(Code::TooLarge, Location::new(0, 1, 1), message);
    }
    notes.errors() > 0
}
