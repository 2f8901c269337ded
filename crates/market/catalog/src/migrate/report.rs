//! What a migration did to one offer, and to many.

use std::collections::BTreeMap;
use std::fmt;

use crate::limits::REPORT_EXAMPLES_MAX;
use crate::value::Item;
use crate::violation::{Fault, Field};

/// What became of one offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is of the new version now.
    Moved(Box<Item>),
    /// It was already.
    Already,
    /// It stays as it is, because of these.
    Stuck(Vec<Obstacle>),
}

/// Something that could not be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The field of the offer as it was; for [`Hindrance::DoesNotFit`] as it would be.
    pub field: Field,
    /// Why.
    pub hindrance: Hindrance,
}

/// Why something could not be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// The offer is of an older version than the migration begins with, or the catalogue is not the one that it leads to.
    WrongVersion {
        /// The offer's version.
        found: u32,
    },
    /// Its category is not in the new catalogue, and no step names it.
    CategoryGone {
        /// The category's id.
        category: Box<str>,
    },
    /// The category is divided by an attribute, and its value is missing or names no branch.
    NoRuleFits {
        /// The attribute.
        attribute: Box<str>,
    },
    /// Two attributes would become one.
    TargetTaken {
        /// The attribute that both would become.
        attribute: Box<str>,
    },
    /// The value is not a number, or too large to be converted.
    CannotConvert {
        /// The unit before.
        from: Box<str>,
        /// The unit after.
        to: Box<str>,
    },
    /// The new category does not take it.
    DoesNotFit(Fault),
}

impl Hindrance {
    /// A stable machine code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::WrongVersion { .. } => "wrong_version",
            Self::CategoryGone { .. } => "category_gone",
            Self::NoRuleFits { .. } => "no_rule_fits",
            Self::TargetTaken { .. } => "target_taken",
            Self::CannotConvert { .. } => "cannot_convert",
            Self::DoesNotFit(fault) => fault.code().as_str(),
        }
    }
}

/// The sum over many offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MigrationReport {
    /// Offers that are of the new version now.
    pub moved: u64,
    /// Offers that were already.
    pub already: u64,
    /// Offers that could not be moved.
    pub stuck: u64,
    /// Obstacles by field and machine code.
    pub obstacles: BTreeMap<(String, &'static str), u64>,
    /// The first of the offers that could not be moved, at most [`REPORT_EXAMPLES_MAX`].
    pub examples: Vec<(String, Vec<Obstacle>)>,
}

impl MigrationReport {
    /// Counts one offer; `key` is what people find it by.
    pub fn note(&mut self, key: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Moved(_) => self.moved += 1,
            Outcome::Already => self.already += 1,
            Outcome::Stuck(obstacles) => {
                self.stuck += 1;
                for obstacle in obstacles {
                    let kind = (obstacle.field.to_string(), obstacle.hindrance.code());
                    *self.obstacles.entry(kind).or_default() += 1;
                }
                if self.examples.len() < REPORT_EXAMPLES_MAX {
                    self.examples.push((key.to_owned(), obstacles.clone()));
                }
            }
        }
    }
}

impl fmt::Display for MigrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moved {}, already moved {}, could not be moved {}", self.moved, self.already, self.stuck)?;
        for ((field, code), count) in &self.obstacles {
            write!(f, "\n  {field}: {code}, {count} times")?;
        }
        Ok(())
    }
}
