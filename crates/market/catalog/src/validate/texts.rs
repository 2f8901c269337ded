//! Validates title, description and the number of photos.

use crate::rules::{Bounds, Limits};
use crate::value::Subject;
use crate::violation::{Fault, Field};

use super::Violations;

pub(crate) fn check(subject: &(impl Subject + ?Sized), limits: &Limits, found: &mut Violations) {
    if let Some(fault) = text_fault(subject.title(), limits.title) {
        found.add(Field::Title, fault);
    }
    if let Some(fault) = text_fault(subject.description(), limits.description) {
        found.add(Field::Description, fault);
    }
    let given = subject.photos().min(u32::MAX as usize) as u32;
    if given < limits.photos.least {
        found.add(Field::Photos, Fault::TooFew { least: limits.photos.least, given });
    } else if given > limits.photos.most {
        found.add(Field::Photos, Fault::TooMany { most: limits.photos.most, given });
    }
}

fn text_fault(text: &str, bounds: Bounds) -> Option<Fault> {
    let text = text.trim();
    if text.is_empty() && bounds.least > 0 {
        return Some(Fault::Required);
    }
    length_fault(text, bounds)
}

/// Counts characters only if the number of bytes does not decide.
pub(crate) fn length_fault(text: &str, bounds: Bounds) -> Option<Fault> {
    if text.len() <= bounds.most as usize && text.len() >= bounds.least as usize * 4 {
        return None;
    }
    let given = text.chars().count().min(u32::MAX as usize) as u32;
    if given < bounds.least {
        Some(Fault::TooShort { least: bounds.least, given })
    } else if given > bounds.most {
        Some(Fault::TooLong { most: bounds.most, given })
    } else {
        None
    }
}
