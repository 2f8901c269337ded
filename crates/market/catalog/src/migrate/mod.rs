//! From one version of a catalogue to the next: what becomes of every offer, described in a file.

mod apply;
mod check;
mod read;
mod report;

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::decimal::Decimal;
use crate::error::{At, Problems, Result};

pub use report::{Hindrance, MigrationReport, Obstacle, Outcome};

/// What becomes of offers when a catalogue of version `n` is replaced by one of version `n + 1`.
///
/// All steps look at the offer as it was: ids may be swapped, and no step sees what another has done. Categories come first; an attribute's
/// step may be meant for one branch of the *new* catalogue only, and the one for the deepest branch that the offer is in counts.
///
/// [`apply`](Self::apply) is idempotent: an [`Item`](crate::Item) knows the version that it was written by, and one of the new version is left alone.
#[derive(Debug, Clone)]
pub struct Migration {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) about: String,
    pub(crate) categories: BTreeMap<Box<str>, CategoryStep>,
    pub(crate) attributes: Vec<AttributeStep>,
}

#[derive(Debug, Clone)]
pub(crate) struct CategoryStep {
    pub(crate) at: At,
    pub(crate) change: Destination,
}

#[derive(Debug, Clone)]
pub(crate) enum Destination {
    To(Box<str>),
    /// By the value of an attribute: a choice's id, `yes` or `no`, a text, a whole number.
    ByValue {
        attribute: Box<str>,
        into: BTreeMap<Box<str>, Box<str>>,
        otherwise: Option<Box<str>>,
    },
    /// By a number: the first range that it is below; the last may have no end.
    ByRange {
        attribute: Box<str>,
        ranges: Vec<(Option<Decimal>, Box<str>)>,
        otherwise: Option<Box<str>>,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct AttributeStep {
    pub(crate) at: At,
    pub(crate) attribute: Box<str>,
    /// A branch of the new catalogue.
    pub(crate) within: Option<Box<str>>,
    pub(crate) to: Option<Box<str>>,
    /// Units before and after.
    pub(crate) unit: Option<(Box<str>, Box<str>)>,
    pub(crate) values: BTreeMap<Box<str>, Box<str>>,
    pub(crate) remove: bool,
}

impl AttributeStep {
    /// The id afterwards.
    pub(crate) fn target(&self) -> &str {
        self.to.as_deref().unwrap_or(&self.attribute)
    }
}

impl Migration {
    /// Reads a migration and checks it against the catalogue that it leads to and, if that is at hand, the one that it leads from:
    /// then also that nothing of the old one is forgotten. `name` is what problems are reported under.
    pub fn read(name: &str, text: &str, old: Option<&Catalogue>, new: &Catalogue) -> Result<Self> {
        let mut problems = Problems::default();
        let (migration, at) = read::read(name, text, &mut problems);
        if problems.has_unreadable() {
            return Err(problems.into_error());
        }
        check::against_new(&migration, at, new, &mut problems);
        if let Some(old) = old {
            check::against_old(&migration, at, old, new, &mut problems);
        }
        problems.into_result()?;
        Ok(migration)
    }

    /// The version that it leads from.
    #[must_use]
    pub fn from(&self) -> u32 {
        self.from
    }

    /// The version that it leads to.
    #[must_use]
    pub fn to(&self) -> u32 {
        self.to
    }

    /// What it does, in its author's words.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }
}
