//! The catalogue in memory and its views.

use std::sync::OnceLock;

use crate::attribute::{AttributeData, Labelled, UnitData};
use crate::find::SearchIndex;
use crate::ids::IdIndex;
use crate::rules::{Limits, Rules};

pub use crate::attribute::{Attribute, Choice, Condition, Unit, Use};

pub(crate) const NOTHING: u32 = u32::MAX;

/// A range of [`Catalogue::texts`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Text {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: Text,
    pub(crate) parent: u32,
    /// A range of [`Catalogue::children`].
    pub(crate) children: (u32, u32),
    /// A range of [`Catalogue::synonyms`].
    pub(crate) synonyms: (u32, u32),
    pub(crate) rules: u32,
    pub(crate) instead: u32,
    pub(crate) depth: u8,
    pub(crate) accepts_offers: bool,
    pub(crate) closed: bool,
}

/// Categories with their attributes: checked as a whole, immutable. Loaded by
/// [`Sources`](crate::Sources).
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) name: Box<str>,
    pub(crate) version: u32,
    pub(crate) digest: u64,
    pub(crate) languages: Box<[Box<str>]>,
    pub(crate) currencies: Box<[Box<str>]>,
    pub(crate) conditions: Vec<Labelled>,
    pub(crate) units: Vec<UnitData>,
    pub(crate) attributes: Vec<AttributeData>,
    pub(crate) attribute_ids: IdIndex,
    pub(crate) texts: Box<str>,
    pub(crate) nodes: Vec<Node>,
    /// Names of the nodes, one for each language.
    pub(crate) names: Vec<Text>,
    pub(crate) synonyms: Vec<(u8, Text)>,
    pub(crate) children: Vec<u32>,
    pub(crate) roots: Vec<u32>,
    pub(crate) category_ids: IdIndex,
    /// The first rules are those of no category, which hold for all.
    pub(crate) rules: Vec<Rules>,
    pub(crate) search: OnceLock<SearchIndex>,
}

impl Catalogue {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A [`Migration`](crate::Migration) leads from one version to the next.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// A hash of the files: differs between catalogues of the same version with other texts.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Language codes; the first is the fallback for unknown languages.
    #[must_use]
    pub fn languages(&self) -> &[Box<str>] {
        &self.languages
    }

    /// Currencies that prices may use.
    #[must_use]
    pub fn currencies(&self) -> &[Box<str>] {
        &self.currencies
    }

    /// The number of categories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Takes constant time.
    #[must_use]
    pub fn category(&self, id: &str) -> Option<Category<'_>> {
        self.category_ids.find(id, |number| self.node_id(number)).map(|number| self.at(number))
    }

    /// Categories without a parent, in the order of the files.
    pub fn roots(&self) -> impl Iterator<Item = Category<'_>> {
        self.roots.iter().map(|number| self.at(*number))
    }

    /// All categories; a parent may come after its children.
    pub fn categories(&self) -> impl Iterator<Item = Category<'_>> {
        (0..self.nodes.len() as u32).map(|number| self.at(number))
    }

    #[must_use]
    pub fn attribute(&self, id: &str) -> Option<Attribute<'_>> {
        let number = self.attribute_ids.find(id, |number| self.attributes[number as usize].id())?;
        Some(Attribute { catalogue: self, number })
    }

    /// All attributes in the order of the files.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        (0..self.attributes.len() as u32).map(|number| Attribute { catalogue: self, number })
    }

    pub fn conditions(&self) -> impl Iterator<Item = Condition<'_>> {
        (0..self.conditions.len() as u8).map(|number| Condition { catalogue: self, number })
    }

    #[must_use]
    pub fn unit(&self, id: &str) -> Option<Unit<'_>> {
        let number = self.units.iter().position(|unit| *unit.labelled.id == *id)?;
        Some(Unit { catalogue: self, number: number as u16 })
    }

    /// An estimate of the memory in use, without attributes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let search = self.search.get().map_or(0, SearchIndex::memory_bytes);
        self.texts.len()
            + self.nodes.len() * size_of::<Node>()
            + self.names.len() * size_of::<Text>()
            + self.synonyms.len() * size_of::<(u8, Text)>()
            + self.children.len() * size_of::<u32>()
            + self.nodes.len() * 4 * size_of::<u32>()
            + search
    }

    pub(crate) fn at(&self, number: u32) -> Category<'_> {
        Category { catalogue: self, number }
    }

    pub(crate) fn node_id(&self, number: u32) -> &str {
        self.text(self.nodes[number as usize].id)
    }

    pub(crate) fn text(&self, text: Text) -> &str {
        &self.texts[text.start as usize..text.end as usize]
    }

    /// The index of a language; that of the first language for an unknown code.
    pub(crate) fn language(&self, code: &str) -> usize {
        self.languages.iter().position(|language| &**language == code).unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Category<'c> {
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) number: u32,
}

impl PartialEq for Category<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.catalogue, other.catalogue) && self.number == other.number
    }
}

impl Eq for Category<'_> {}

impl<'c> Category<'c> {
    fn node(self) -> &'c Node {
        &self.catalogue.nodes[self.number as usize]
    }

    pub(crate) fn rules(self) -> &'c Rules {
        &self.catalogue.rules[self.node().rules as usize]
    }

    #[must_use]
    pub fn id(self) -> &'c str {
        self.catalogue.node_id(self.number)
    }

    /// The name in a language; in the catalogue's first language if the language is unknown.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        self.name_in(self.catalogue.language(language))
    }

    pub(crate) fn name_in(self, language: usize) -> &'c str {
        let count = self.catalogue.languages.len();
        self.catalogue.text(self.catalogue.names[self.number as usize * count + language])
    }

    /// Synonyms with their language; an empty code if they hold in every language.
    pub fn synonyms(self) -> impl Iterator<Item = (&'c str, &'c str)> {
        let catalogue = self.catalogue;
        self.synonym_texts().map(move |(language, text)| {
            (catalogue.languages.get(usize::from(language)).map_or("", |code| &**code), text)
        })
    }

    pub(crate) fn synonym_texts(self) -> impl Iterator<Item = (u8, &'c str)> {
        let (start, end) = self.node().synonyms;
        let catalogue = self.catalogue;
        catalogue.synonyms[start as usize..end as usize]
            .iter()
            .map(move |(language, text)| (*language, catalogue.text(*text)))
    }

    /// `None` for a root.
    #[must_use]
    pub fn parent(self) -> Option<Category<'c>> {
        let parent = self.node().parent;
        (parent != NOTHING).then(|| self.catalogue.at(parent))
    }

    /// The nearest ancestor first.
    pub fn ancestors(self) -> impl Iterator<Item = Category<'c>> {
        std::iter::successors(self.parent(), |category| category.parent())
    }

    /// Direct children in the order of the files.
    #[must_use]
    pub fn children(self) -> impl ExactSizeIterator<Item = Category<'c>> {
        let (start, end) = self.node().children;
        let catalogue = self.catalogue;
        catalogue.children[start as usize..end as usize].iter().map(|number| catalogue.at(*number))
    }

    /// The number of ancestors.
    #[must_use]
    pub fn depth(self) -> usize {
        usize::from(self.node().depth)
    }

    /// Whether it is `other` or one of its descendants.
    #[must_use]
    pub fn is_within(self, other: Category<'_>) -> bool {
        self.number == other.number || self.ancestors().any(|above| above.number == other.number)
    }

    /// The names from the root to this category, separated by ` > `.
    #[must_use]
    pub fn path(self, language: &str) -> String {
        let language = self.catalogue.language(language);
        let mut names: Vec<&str> = self.ancestors().map(|category| category.name_in(language)).collect();
        names.reverse();
        names.push(self.name_in(language));
        names.join(" > ")
    }

    /// By default only categories without children accept offers.
    #[must_use]
    pub fn accepts_offers(self) -> bool {
        self.node().accepts_offers
    }

    /// Whether its whole branch is closed: the ids stay valid, but no new offers are accepted.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self.node().closed
    }

    /// The replacement of a closed category.
    #[must_use]
    pub fn instead(self) -> Option<Category<'c>> {
        let instead = self.node().instead;
        (instead != NOTHING).then(|| self.catalogue.at(instead))
    }

    #[must_use]
    pub fn limits(self) -> &'c Limits {
        &self.rules().limits
    }

    /// The conditions that its offers may have.
    pub fn conditions(self) -> impl Iterator<Item = Condition<'c>> {
        let catalogue = self.catalogue;
        self.limits().conditions.iter().map(move |number| Condition { catalogue, number: *number })
    }

    /// Its attributes, inherited ones first.
    #[must_use]
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Use<'c>> {
        let (catalogue, rules) = (self.catalogue, self.rules());
        rules.shown.iter().map(move |slot| Use { catalogue, slot: &rules.slots[usize::from(*slot)] })
    }

    #[must_use]
    pub fn attribute(self, id: &str) -> Option<Use<'c>> {
        let slot = self.catalogue.slot(self.rules(), id)?;
        Some(Use { catalogue: self.catalogue, slot: &self.rules().slots[slot] })
    }
}
