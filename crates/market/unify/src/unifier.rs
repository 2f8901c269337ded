//! The unifier and its sessions.

use std::sync::Arc;

use catalog::Catalogue;
use geo::{Builtin, Geocoder, Places};

use crate::attributes::{self, Names, ValueCache};
use crate::cache::Cache;
use crate::category::{Texts, Unrecognised, Verdict, decide};
use crate::error::Result;
use crate::evidence::Scratch;
use crate::index::Index;
use crate::input::Input;
use crate::limits::{
    CACHED_PATHS_MAX, CACHED_VALUES_MAX, DESCRIPTION_CHARS_FOR_CATEGORY_MAX, TITLE_CHARS_MAX,
};
use crate::mapping::{Mapping, NoMapping, path_key};
use crate::output::{Mark, MarkKind, Reason, Recognised, Unified};
use crate::path::{self, PathEvidence};
use crate::place;
use crate::tables::Google;

/// Shared between threads, each with its own [`Session`].
pub struct Unifier {
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) index: Index,
    google: Google,
    names: Names,
    places: Builtin,
}

impl Unifier {
    /// Takes some tenths of a second to build an index.
    pub fn new(catalogue: Arc<Catalogue>, places: Arc<Places>) -> Result<Self> {
        catalogue.prepare_search();
        let index = Index::new(&catalogue)?;
        let google = Google::read(|id| index.node(id))?;
        Ok(Self { names: Names::read()?, places: Builtin::new(places), index, google, catalogue })
    }

    /// A session without a mapping.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        self.session_with(&NoMapping)
    }

    /// A session for one feed with the mapping of its seller.
    #[must_use]
    pub fn session_with<'u>(&'u self, mapping: &'u dyn Mapping) -> Session<'u> {
        Session {
            unifier: self,
            mapping,
            scratch: Scratch::new(&self.index),
            paths: Cache::new(CACHED_PATHS_MAX),
            values: Cache::new(CACHED_VALUES_MAX),
        }
    }

    /// An estimate of the memory in use by the index.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }
}

/// Unifies offers and caches what is common between offers of one feed.
pub struct Session<'u> {
    unifier: &'u Unifier,
    mapping: &'u dyn Mapping,
    scratch: Scratch,
    /// By the category in the feed.
    paths: Cache<Arc<PathEvidence>>,
    values: ValueCache,
}

impl Session<'_> {
    /// Unifies an offer with the built-in places.
    pub fn unify(&mut self, input: &Input<'_>) -> Unified {
        let mut unified = self.unify_goods(input);
        place::locate_now(&self.unifier.places, input, &mut unified);
        unified
    }

    /// Unifies an offer and asks a geocoder for its place. A failure of the geocoder becomes a
    /// mark.
    pub async fn unify_asking(&mut self, input: &Input<'_>, geocoder: &dyn Geocoder) -> Unified {
        let mut unified = self.unify_goods(input);
        place::locate(geocoder, input, &mut unified).await;
        unified
    }

    /// Category and attributes, without the place.
    pub fn unify_goods(&mut self, input: &Input<'_>) -> Unified {
        let mut unified = Unified::default();
        match self.recognise(input) {
            Ok(recognised) => unified.category = Some(recognised),
            Err(unrecognised) => unified.marks.push(self.mark_of(input, unrecognised)),
        }
        let category = unified.category.as_ref().and_then(|found| self.unifier.catalogue.category(&found.id));
        if let Some(found) = unified.category.as_ref().filter(|found| found.is_ambiguous) {
            let second = found.second.as_ref().map(|(second, _)| second.clone());
            let given = given_category(input);
            unified.marks.push(Mark::new(MarkKind::AmbiguousCategory, "category", &given, second));
        }
        attributes::read(category, &self.unifier.names, input, &mut self.values, &mut unified);
        unified
    }

    fn recognise(&mut self, input: &Input<'_>) -> Result<Recognised, Unrecognised> {
        if let Some(recognised) = self.mapped(input) {
            return Ok(recognised);
        }
        let path = self.path(input);
        let kind = attributes::kind_words(input);
        let texts = Texts {
            title: truncate(input.title, TITLE_CHARS_MAX),
            kind: &kind,
            description: truncate(input.description, DESCRIPTION_CHARS_FOR_CATEGORY_MAX),
        };
        let verdict = decide(&self.unifier.index, &path, &texts, &mut self.scratch)?;
        Ok(self.recognised(verdict))
    }

    /// The category of the seller's mapping, if it still accepts offers.
    fn mapped(&self, input: &Input<'_>) -> Option<Recognised> {
        let id = self.mapping.category(&path_key(input.path))?;
        let category = self.unifier.catalogue.category(id)?;
        let category = if category.is_closed() { category.instead()? } else { category };
        let id = category.id().to_owned();
        let mapped =
            Recognised { id, points: 1000, reason: Reason::Mapping, second: None, is_ambiguous: false };
        category.accepts_offers().then_some(mapped)
    }

    fn recognised(&self, verdict: Verdict) -> Recognised {
        let id = |number: u32| self.unifier.index.nodes[number as usize].id.to_string();
        let second = verdict.second.map(|(number, points)| (id(number), points));
        let Verdict { best, points, reason, is_ambiguous, .. } = verdict;
        Recognised { id: id(best), points, reason, second, is_ambiguous }
    }

    fn mark_of(&self, input: &Input<'_>, unrecognised: Unrecognised) -> Mark {
        let given = given_category(input);
        match unrecognised.inner {
            Some(inner) => {
                let id = self.unifier.index.nodes[inner as usize].id.to_string();
                Mark::new(MarkKind::AmbiguousCategory, "category", &given, Some(id))
            }
            None => Mark::new(MarkKind::UnknownCategory, "category", &given, None),
        }
    }

    fn path(&mut self, input: &Input<'_>) -> Arc<PathEvidence> {
        let Self { unifier, scratch, paths, .. } = self;
        let others = [input.google.unwrap_or_default(), input.category.unwrap_or_default()];
        paths.get_or_insert(input.path.iter().copied().chain(others), || {
            Arc::new(path::read(&unifier.index, &unifier.google, input, scratch))
        })
    }
}

/// The feed's category for a mark: its path, or the title if there is none.
fn given_category(input: &Input<'_>) -> String {
    match (input.path, input.category.or(input.google)) {
        ([], Some(text)) => text.to_owned(),
        ([], None) => input.title.to_owned(),
        (path, _) => path.join(" > "),
    }
}

/// Truncates a text to `chars` characters.
pub(crate) fn truncate(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}
