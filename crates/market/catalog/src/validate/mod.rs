//! Checks an offer by the catalogue: everything that is wrong with it, at once.

mod attributes;
mod message;
mod price;
mod texts;

pub(crate) use attributes::suggest;

use crate::catalogue::{Catalogue, Category};
use crate::limits::VIOLATIONS_MAX;
use crate::rules::Limits;
use crate::text::echo;
use crate::value::Subject;
use crate::violation::{Fault, Field, Violation};
use ::text::nearest;

/// The violations found so far, at most [`VIOLATIONS_MAX`].
pub(crate) struct Found {
    violations: Vec<Violation>,
}

impl Found {
    pub(crate) fn add(&mut self, field: Field, fault: Fault) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(Violation { field, fault });
        }
    }

    pub(crate) fn has(&self, field: &Field) -> bool {
        self.violations.iter().any(|violation| violation.field == *field)
    }
}

impl Catalogue {
    /// Everything that is wrong with an offer, in the order category, texts, photos, condition, price, attributes; empty if it may
    /// stand. At most [`VIOLATIONS_MAX`] violations.
    ///
    /// An offer of an unknown category is still checked by what holds for all categories; its attributes are not.
    /// A sound offer with at most sixteen choices costs no allocation.
    #[must_use]
    pub fn validate(&self, subject: &(impl Subject + ?Sized)) -> Vec<Violation> {
        let mut found = Found { violations: Vec::new() };
        let category = self.category(subject.category());
        let limits = category.map_or(&self.rules[0].limits, Category::limits);
        self.check_category(subject.category(), category, &mut found);
        texts::check(subject, limits, &mut found);
        self.check_condition(subject.condition(), limits, &mut found);
        price::check(self, subject.price(), limits, &mut found);
        if let Some(category) = category {
            attributes::check(subject, category, &mut found);
        }
        found.violations
    }

    /// What is wrong with the attributes alone; nothing if the category is unknown.
    #[must_use]
    pub fn validate_attributes(&self, subject: &(impl Subject + ?Sized)) -> Vec<Violation> {
        let mut found = Found { violations: Vec::new() };
        if let Some(category) = self.category(subject.category()) {
            attributes::check(subject, category, &mut found);
        }
        found.violations
    }

    fn check_category(&self, id: &str, category: Option<Category<'_>>, found: &mut Found) {
        let fault = match category {
            Some(category) if category.accepts_offers() => return,
            Some(category) if category.is_closed() => {
                Fault::CategoryClosed { instead: category.instead().map(|instead| instead.id().into()) }
            }
            Some(_) => Fault::CategoryNotOpen,
            None if id.is_empty() => Fault::Required,
            None => {
                let suggestion = self.find_category(id, None).first().map(|found| found.category.id().into());
                Fault::CategoryUnknown { given: echo(id), suggestion }
            }
        };
        found.add(Field::Category, fault);
    }

    fn check_condition(&self, condition: Option<&str>, limits: &Limits, found: &mut Found) {
        let fault = match condition {
            None if limits.condition_required => Fault::Required,
            None => return,
            Some(_) if limits.conditions.is_empty() => Fault::NotAllowed,
            Some(id) => match self.conditions.iter().position(|(known, _)| **known == *id) {
                Some(number) if limits.conditions.contains(&(number as u8)) => return,
                Some(_) => Fault::ValueNotAllowed { given: id.into() },
                None => {
                    let suggestion = nearest(id, self.conditions.iter().map(|(known, _)| &**known));
                    Fault::UnknownValue { given: echo(id), suggestion: suggestion.map(Into::into) }
                }
            },
        };
        found.add(Field::Condition, fault);
    }
}
