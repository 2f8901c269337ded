//! The catalogue in memory, and the views that are handed out of it.

use std::sync::OnceLock;

use crate::attribute::{AttributeData, Labels, UnitData};
use crate::find::SearchIndex;
use crate::ids::IdIndex;
use crate::rules::{Limits, Rules};

pub use crate::attribute::{Attribute, Choice, Condition, Unit, Use};

pub(crate) const NOTHING: u32 = u32::MAX;

/// A part of [`Catalogue::texts`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Text {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: Text,
    pub(crate) parent: u32,
    /// The part of [`Catalogue::children`].
    pub(crate) children: (u32, u32),
    /// The part of [`Catalogue::synonyms`].
    pub(crate) synonyms: (u32, u32),
    pub(crate) rules: u32,
    pub(crate) instead: u32,
    pub(crate) depth: u8,
    pub(crate) accepts_offers: bool,
    pub(crate) closed: bool,
}

/// Categories with their attributes, checked as a whole and never changed afterwards. Made by [`Sources`](crate::Sources).
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) name: Box<str>,
    pub(crate) version: u32,
    pub(crate) digest: u64,
    pub(crate) languages: Box<[Box<str>]>,
    pub(crate) currencies: Box<[Box<str>]>,
    pub(crate) conditions: Vec<(Box<str>, Labels)>,
    pub(crate) units: Vec<UnitData>,
    pub(crate) attributes: Vec<AttributeData>,
    pub(crate) attribute_ids: IdIndex,
    pub(crate) texts: Box<str>,
    pub(crate) nodes: Vec<Node>,
    /// Names of the nodes: as many for each as there are languages.
    pub(crate) names: Vec<Text>,
    pub(crate) synonyms: Vec<(u8, Text)>,
    pub(crate) children: Vec<u32>,
    pub(crate) roots: Vec<u32>,
    pub(crate) category_ids: IdIndex,
    /// The first are the rules of no category: what holds for all.
    pub(crate) rules: Vec<Rules>,
    pub(crate) search: OnceLock<SearchIndex>,
}

impl Catalogue {
    /// What the catalogue calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version; a [`Migration`](crate::Migration) leads from one to the next.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Tells it from every other catalogue, also from one of the same version: another text of its files is another digest.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Codes of the languages that everything has a name in; the first stands in for languages that are not among them.
    #[must_use]
    pub fn languages(&self) -> &[Box<str>] {
        &self.languages
    }

    /// The currencies that prices may be in.
    #[must_use]
    pub fn currencies(&self) -> &[Box<str>] {
        &self.currencies
    }

    /// How many categories there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no category at all; a catalogue that was loaded has some.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The category with this id, in constant time.
    #[must_use]
    pub fn category(&self, id: &str) -> Option<Category<'_>> {
        self.category_ids.find(id, |number| self.node_id(number)).map(|number| self.at(number))
    }

    /// The categories that have no parent, in the order of the files.
    pub fn roots(&self) -> impl Iterator<Item = Category<'_>> {
        self.roots.iter().map(|number| self.at(*number))
    }

    /// Every category; parents may come after their children.
    pub fn categories(&self) -> impl Iterator<Item = Category<'_>> {
        (0..self.nodes.len() as u32).map(|number| self.at(number))
    }

    /// The attribute with this id.
    #[must_use]
    pub fn attribute(&self, id: &str) -> Option<Attribute<'_>> {
        let number = self.attribute_ids.find(id, |number| &self.attributes[number as usize].id)?;
        Some(Attribute { catalogue: self, number })
    }

    /// Every attribute, in the order of the files.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        (0..self.attributes.len() as u32).map(|number| Attribute { catalogue: self, number })
    }

    /// The conditions that things can be in.
    pub fn conditions(&self) -> impl Iterator<Item = Condition<'_>> {
        (0..self.conditions.len() as u8).map(|number| Condition { catalogue: self, number })
    }

    /// The unit with this id.
    #[must_use]
    pub fn unit(&self, id: &str) -> Option<Unit<'_>> {
        let number = self.units.iter().position(|unit| &*unit.id == id)?;
        Some(Unit { catalogue: self, number: number as u16 })
    }

    /// Bytes that the catalogue takes in memory, without its attributes: an estimate for people.
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

    /// The number of a language; the first language for a code that is not among them.
    pub(crate) fn language(&self, code: &str) -> usize {
        self.languages.iter().position(|language| &**language == code).unwrap_or(0)
    }
}

/// A category of a catalogue.
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

    /// The stable id.
    #[must_use]
    pub fn id(self) -> &'c str {
        self.catalogue.node_id(self.number)
    }

    /// The name in a language; in the catalogue's first if it has none in that.
    #[must_use]
    pub fn name(self, language: &str) -> &'c str {
        self.name_in(self.catalogue.language(language))
    }

    pub(crate) fn name_in(self, language: usize) -> &'c str {
        let count = self.catalogue.languages.len();
        self.catalogue.text(self.catalogue.names[self.number as usize * count + language])
    }

    /// Other names: the language's code (empty if the word is the same in every language) and the name.
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

    /// The category above; `None` for a root.
    #[must_use]
    pub fn parent(self) -> Option<Category<'c>> {
        let parent = self.node().parent;
        (parent != NOTHING).then(|| self.catalogue.at(parent))
    }

    /// The categories above, the nearest first.
    pub fn ancestors(self) -> impl Iterator<Item = Category<'c>> {
        std::iter::successors(self.parent(), |category| category.parent())
    }

    /// The categories directly below, in the order of the files.
    #[must_use]
    pub fn children(self) -> impl ExactSizeIterator<Item = Category<'c>> {
        let (start, end) = self.node().children;
        let catalogue = self.catalogue;
        catalogue.children[start as usize..end as usize].iter().map(|number| catalogue.at(*number))
    }

    /// Steps from its root: 0 for a root.
    #[must_use]
    pub fn depth(self) -> usize {
        usize::from(self.node().depth)
    }

    /// Whether it is `other` or stands below it.
    #[must_use]
    pub fn is_within(self, other: Category<'_>) -> bool {
        self.number == other.number || self.ancestors().any(|above| above.number == other.number)
    }

    /// The names from the root down to it, with ` > ` between them.
    #[must_use]
    pub fn path(self, language: &str) -> String {
        let language = self.catalogue.language(language);
        let mut names: Vec<&str> = self.ancestors().map(|category| category.name_in(language)).collect();
        names.reverse();
        names.push(self.name_in(language));
        names.join(" > ")
    }

    /// Whether offers can stand in it. By default they can if nothing stands below it.
    #[must_use]
    pub fn accepts_offers(self) -> bool {
        self.node().accepts_offers
    }

    /// Whether its whole branch is closed: kept so that its ids stay known, but nothing new goes into it.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self.node().closed
    }

    /// Where offers of a closed branch belong.
    #[must_use]
    pub fn instead(self) -> Option<Category<'c>> {
        let instead = self.node().instead;
        (instead != NOTHING).then(|| self.catalogue.at(instead))
    }

    /// Limits on title, description, photos, price and condition.
    #[must_use]
    pub fn limits(self) -> &'c Limits {
        &self.rules().limits
    }

    /// The conditions that its offers may be in.
    pub fn conditions(self) -> impl Iterator<Item = Condition<'c>> {
        let catalogue = self.catalogue;
        self.limits().conditions.iter().map(move |number| Condition { catalogue, number: *number })
    }

    /// Its attributes, the inherited ones first.
    #[must_use]
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Use<'c>> {
        let (catalogue, rules) = (self.catalogue, self.rules());
        rules.shown.iter().map(move |slot| Use { catalogue, slot: &rules.slots[usize::from(*slot)] })
    }

    /// The attribute with this id, if the category has it.
    #[must_use]
    pub fn attribute(self, id: &str) -> Option<Use<'c>> {
        let slot = self.catalogue.slot(self.rules(), id)?;
        Some(Use { catalogue: self.catalogue, slot: &self.rules().slots[slot] })
    }
}
