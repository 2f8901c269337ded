//! Migration of offers from one version of a catalogue to the next, as described in a file.

mod apply;
mod check;
mod read;
mod report;

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::decimal::Decimal;
use crate::error::{At, Problems, Result};

pub use report::{Hindrance, MigrationReport, Obstacle, Outcome};

/// The changes of offers from version `n` of a catalogue to version `n + 1`.
///
/// All steps read the original offer, so ids may be swapped. Categories are moved first. The step
/// of an attribute may be limited to a branch of the *new* catalogue; the deepest branch wins.
///
/// [`apply`](Self::apply) is idempotent: an [`Item`](crate::Item) has the version of its catalogue,
/// and one of the new version is unchanged.
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
    /// By the value of an attribute: a choice id, `yes` or `no`, a text, a whole number.
    ByValue {
        attribute: Box<str>,
        into: BTreeMap<Box<str>, Box<str>>,
        otherwise: Option<Box<str>>,
    },
    /// By a number: the first range whose end is above it; the last may have no end.
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
    pub(crate) fn target(&self) -> &str {
        self.to.as_deref().unwrap_or(&self.attribute)
    }
}

impl Migration {
    /// Reads a migration and checks it against the new catalogue and, if given, against the old
    /// one: then nothing of the old one may be forgotten. Problems are reported under `name`.
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

    #[must_use]
    pub fn from(&self) -> u32 {
        self.from
    }

    #[must_use]
    pub fn to(&self) -> u32 {
        self.to
    }

    /// A description by its author.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }
}
