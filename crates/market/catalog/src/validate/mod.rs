//! Validates an offer against the catalogue and reports all violations at once.

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

/// At most [`VIOLATIONS_MAX`].
#[derive(Default)]
pub(crate) struct Violations(Vec<Violation>);

impl Violations {
    pub(crate) fn add(&mut self, field: Field, fault: Fault) {
        if self.0.len() < VIOLATIONS_MAX {
            self.0.push(Violation { field, fault });
        }
    }

    pub(crate) fn has(&self, field: &Field) -> bool {
        self.0.iter().any(|violation| violation.field == *field)
    }
}

impl Catalogue {
    /// All violations of an offer in the order category, texts, photos, condition, price,
    /// attributes; at most [`VIOLATIONS_MAX`].
    ///
    /// An offer of an unknown category is checked by the rules for all categories, except for its
    /// attributes. A valid offer with at most sixteen choices costs no allocation.
    #[must_use]
    pub fn validate(&self, subject: &(impl Subject + ?Sized)) -> Vec<Violation> {
        let mut found = Violations::default();
        let category = self.category(subject.category());
        let limits = category.map_or(&self.rules[0].limits, Category::limits);
        self.check_category(subject.category(), category, &mut found);
        texts::check(subject, limits, &mut found);
        self.check_condition(subject.condition(), limits, &mut found);
        price::check(self, subject.price(), limits, &mut found);
        if let Some(category) = category {
            attributes::check(subject, category, &mut found);
        }
        found.0
    }

    /// Violations of the attributes only; none if the category is unknown.
    #[must_use]
    pub fn validate_attributes(&self, subject: &(impl Subject + ?Sized)) -> Vec<Violation> {
        let mut found = Violations::default();
        if let Some(category) = self.category(subject.category()) {
            attributes::check(subject, category, &mut found);
        }
        found.0
    }

    fn check_category(&self, id: &str, category: Option<Category<'_>>, found: &mut Violations) {
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

    fn check_condition(&self, condition: Option<&str>, limits: &Limits, found: &mut Violations) {
        let fault = match condition {
            None if limits.condition_required => Fault::Required,
            None => return,
            Some(_) if limits.conditions.is_empty() => Fault::NotAllowed,
            Some(id) => match self.conditions.iter().position(|known| *known.id == *id) {
                Some(number) if limits.conditions.contains(&(number as u8)) => return,
                Some(_) => Fault::ValueNotAllowed { given: id.into() },
                None => {
                    let suggestion = nearest(id, self.conditions.iter().map(|known| &*known.id));
                    Fault::UnknownValue { given: echo(id), suggestion: suggestion.map(Into::into) }
                }
            },
        };
        found.add(Field::Condition, fault);
    }
}
