//! All versions of a catalogue up to the current one, with the migrations between them.

use std::path::Path;
use std::sync::Arc;

use catalog::{Catalogue, Hindrance, Migration, Obstacle, Outcome, Sources, Violation};
use wire::torg::offers::v1::{Obstacle as WireObstacle, Offer};

use super::item;

/// The language of obstacles.
const LANGUAGE: &str = "en";

/// The versions do not form a lineage.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LineageError {
    /// An invalid catalogue or migration.
    #[error(transparent)]
    Wrong(#[from] catalog::Error),
    #[error(
        "{path}: {detail}: each version before the present one has a folder of its number and a file N-M.toml"
    )]
    Unreadable { path: String, detail: String },
    #[error(
        "the catalogue of version {after} does not follow that of version {before}: give every version between"
    )]
    Gap {
        before: u32,
        /// The version after it.
        after: u32,
    },
    #[error("there is no migration from version {0}: write one that leads to the next version")]
    NoMigration(u32),
}

/// Catalogues of consecutive versions, the current one last, with a migration between each two.
#[derive(Clone, Debug)]
pub struct Lineage {
    catalogues: Vec<Arc<Catalogue>>,
    /// One fewer than catalogues.
    migrations: Vec<Migration>,
}

/// The result for an offer.
#[derive(Clone, Debug, PartialEq)]
pub enum Evolved {
    /// The offer has the current version or an unknown later one.
    UpToDate,
    Moved(Box<Offer>),
    /// The offer stays unchanged.
    Stuck(Vec<Obstacle>),
}

impl Lineage {
    /// A catalogue without earlier versions.
    #[must_use]
    pub fn of(present: Arc<Catalogue>) -> Self {
        Self { catalogues: vec![present], migrations: Vec::new() }
    }

    /// Both in order of versions.
    pub fn new(catalogues: Vec<Arc<Catalogue>>, migrations: Vec<Migration>) -> Result<Self, LineageError> {
        for (at, pair) in catalogues.windows(2).enumerate() {
            let (before, after) = (pair[0].version(), pair[1].version());
            if before.checked_add(1) != Some(after) {
                return Err(LineageError::Gap { before, after });
            }
            if migrations.get(at).is_none_or(|step| (step.from(), step.to()) != (before, after)) {
                return Err(LineageError::NoMigration(before));
            }
        }
        let no_catalogue = LineageError::Gap { before: 0, after: 0 };
        if catalogues.is_empty() { Err(no_catalogue) } else { Ok(Self { catalogues, migrations }) }
    }

    /// Reads earlier versions from a folder: for each version `n` a folder `n` with its files and a
    /// file `n-m.toml` with the migration to the next version. Starts with the oldest version after
    /// which none is missing. Blocking.
    pub fn read(folder: &Path, present: Arc<Catalogue>) -> Result<Self, LineageError> {
        let (mut catalogues, mut migrations) = (vec![present], Vec::new());
        loop {
            let next = Arc::clone(&catalogues[0]);
            let Some(version) = next.version().checked_sub(1).filter(|version| *version > 0) else { break };
            let past = folder.join(version.to_string());
            if !past.is_dir() {
                break;
            }
            let catalogue = Sources::new().directory(&past).load()?;
            if catalogue.version() != version {
                return Err(LineageError::Gap { before: catalogue.version(), after: next.version() });
            }
            let path = folder.join(format!("{version}-{}.toml", next.version()));
            let unreadable = |error: std::io::Error| LineageError::Unreadable {
                path: path.display().to_string(),
                detail: error.to_string(),
            };
            let text = std::fs::read_to_string(&path).map_err(unreadable)?;
            migrations
                .insert(0, Migration::read(&path.display().to_string(), &text, Some(&catalogue), &next)?);
            catalogues.insert(0, Arc::new(catalogue));
        }
        Self::new(catalogues, migrations)
    }

    /// The current version.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.first() + self.migrations.len() as u32
    }

    /// The oldest version with a migration.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.catalogues[0].version()
    }

    /// The version of an offer; the oldest if it has none.
    #[must_use]
    pub fn version_of(&self, offer: &Offer) -> u32 {
        if offer.catalogue_version == 0 { self.first() } else { offer.catalogue_version }
    }

    /// Moves an offer to the current version, completely or not at all. Removed values stay in the
    /// history only.
    #[must_use]
    pub fn evolve(&self, offer: &Offer) -> Evolved {
        let found = self.version_of(offer);
        if found >= self.version() {
            return Evolved::UpToDate;
        }
        let Some(start) = found.checked_sub(self.first()).map(|start| start as usize) else {
            let field = catalog::Field::Category;
            return Evolved::Stuck(vec![Obstacle { field, hindrance: Hindrance::WrongVersion { found } }]);
        };
        let before = item::read(offer, &self.catalogues[start]);
        let mut now = before.clone();
        for (step, next) in self.migrations.iter().zip(&self.catalogues[1..]).skip(start) {
            match step.apply(&now, next) {
                Outcome::Moved(item) => now = *item,
                Outcome::UpToDate => {}
                Outcome::Stuck(obstacles) => return Evolved::Stuck(obstacles),
            }
        }
        let mut moved = offer.clone();
        item::write(&mut moved, &before, &now);
        moved.catalogue_version = self.version();
        moved.obstacles.clear();
        Evolved::Moved(Box::new(moved))
    }

    /// Obstacles in the form of the offer, with texts for its seller.
    #[must_use]
    pub fn kept(&self, obstacles: &[Obstacle]) -> Vec<WireObstacle> {
        let kept = |obstacle: &Obstacle| WireObstacle {
            field: obstacle.field.to_string(),
            code: obstacle.hindrance.code().to_owned(),
            text: self.text(obstacle),
            ..WireObstacle::default()
        };
        obstacles.iter().map(kept).collect()
    }

    fn text(&self, obstacle: &Obstacle) -> String {
        match &obstacle.hindrance {
            Hindrance::WrongVersion { found } => {
                format!(
                    "it is of version {found} of the catalogue, from which nothing leads to the present one"
                )
            }
            Hindrance::CategoryGone { category } => {
                format!("the category {category} is gone: choose another")
            }
            Hindrance::NoRuleFits { attribute } => {
                format!("its category was divided by {attribute}, which it does not say: choose a category")
            }
            Hindrance::TargetTaken { attribute } => {
                format!("two of its attributes became {attribute}: keep one")
            }
            Hindrance::CannotConvert { from, to } => format!("it cannot be converted from {from} to {to}"),
            Hindrance::DoesNotFit(fault) => {
                let violation = Violation { field: obstacle.field.clone(), fault: fault.clone() };
                violation.text(&self.catalogues[self.migrations.len()], LANGUAGE)
            }
        }
    }
}
