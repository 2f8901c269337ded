//! Results of a migration for one offer and for many.

use std::collections::BTreeMap;
use std::fmt;

use crate::limits::REPORT_EXAMPLES_MAX;
use crate::value::Item;
use crate::violation::{Fault, Field};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Moved(Box<Item>),
    /// The offer already has the new version.
    UpToDate,
    /// The offer stays unchanged.
    Stuck(Vec<Obstacle>),
}

/// A field that could not be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The field of the original offer; for [`Hindrance::DoesNotFit`] of the moved one.
    pub field: Field,
    pub hindrance: Hindrance,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// The offer has an older version than the migration starts from, or the catalogue is not its
    /// target.
    WrongVersion { found: u32 },
    /// The category is not in the new catalogue, and no step names it.
    CategoryGone { category: Box<str> },
    /// The category is split by an attribute whose value is missing or matches no branch.
    NoRuleFits { attribute: Box<str> },
    /// Two attributes would become this one.
    TargetTaken { attribute: Box<str> },
    /// The value is no number, or out of range after the conversion.
    CannotConvert { from: Box<str>, to: Box<str> },
    /// The new category does not accept the value.
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

/// Totals over many offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MigrationReport {
    pub moved: u64,
    pub up_to_date: u64,
    pub stuck: u64,
    /// Obstacles by field and machine code.
    pub obstacles: BTreeMap<(String, &'static str), u64>,
    /// The first stuck offers, at most [`REPORT_EXAMPLES_MAX`].
    pub examples: Vec<(String, Vec<Obstacle>)>,
}

impl MigrationReport {
    /// Counts one offer; `key` identifies it in `examples`.
    pub fn note(&mut self, key: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Moved(_) => self.moved += 1,
            Outcome::UpToDate => self.up_to_date += 1,
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
        write!(
            f,
            "moved {}, already moved {}, could not be moved {}",
            self.moved, self.up_to_date, self.stuck
        )?;
        for ((field, code), count) in &self.obstacles {
            write!(f, "\n  {field}: {code}, {count} times")?;
        }
        Ok(())
    }
}
