//! An index of all names as sorted hashes, without text.

use xxhash_rust::xxh3::xxh3_64;

use crate::catalogue::Catalogue;
use crate::text::{is_filler, normalise_into, stem};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Name,
    Synonym,
    /// The sorted stems of the words of a name or synonym.
    Stems,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    pub(crate) category: u32,
    pub(crate) source: Source,
    pub(crate) language: u8,
}

/// Hashes have 64 bits: among a million names a collision is extremely rare and only adds a wrong
/// candidate.
#[derive(Debug)]
pub(crate) struct SearchIndex {
    entries: Vec<Entry>,
    /// Stems of single words with their categories.
    words: Vec<(u64, u32)>,
    attributes: Vec<(u64, u32)>,
    /// Ids, names and synonyms of choices by attribute.
    choices: Vec<(u32, u64, u16)>,
}

impl SearchIndex {
    pub(crate) fn new(catalogue: &Catalogue) -> Self {
        let mut index = Self {
            entries: Vec::with_capacity(catalogue.nodes.len() * catalogue.languages.len() * 2),
            words: Vec::with_capacity(catalogue.nodes.len() * catalogue.languages.len() * 3),
            attributes: Vec::new(),
            choices: Vec::new(),
        };
        let mut buffers = Buffers::default();
        for category in catalogue.categories() {
            for language in 0..catalogue.languages.len() {
                let name = category.name_in(language);
                index.add(category.number, name, language as u8, Source::Name, &mut buffers);
            }
            for (language, name) in category.synonym_texts() {
                index.add(category.number, name, language, Source::Synonym, &mut buffers);
            }
        }
        index.entries.sort_unstable();
        index.entries.dedup();
        index.words.sort_unstable();
        index.words.dedup();
        index.add_attributes(catalogue);
        index
    }

    fn add(&mut self, category: u32, name: &str, language: u8, source: Source, buffers: &mut Buffers) {
        buffers.normal.clear();
        normalise_into(name, &mut buffers.normal);
        self.entries.push(Entry { hash: xxh3_64(buffers.normal.as_bytes()), category, source, language });
        let stems = hash_of_stems(&buffers.normal, &mut buffers.joined);
        self.entries.push(Entry { hash: stems, category, source: Source::Stems, language });
        let words = buffers.normal.split(' ').filter(|word| !is_filler(word));
        self.words.extend(words.map(|word| (xxh3_64(stem(word).as_bytes()), category)));
    }

    fn add_attributes(&mut self, catalogue: &Catalogue) {
        let mut normal = String::new();
        let mut hash = |text: &str| {
            normal.clear();
            normalise_into(text, &mut normal);
            xxh3_64(normal.as_bytes())
        };
        for (number, attribute) in catalogue.attributes.iter().enumerate() {
            let number = number as u32;
            self.attributes.push((hash(attribute.id()), number));
            self.attributes.extend(attribute.labelled.labels.all().map(|name| (hash(name), number)));
            for (place, choice) in attribute.choices.iter().enumerate() {
                self.choices.push((number, hash(&choice.id), place as u16));
                self.choices.extend(choice.labels.all().map(|name| (number, hash(name), place as u16)));
            }
        }
        self.attributes.sort_unstable();
        self.choices.sort_unstable();
    }

    /// Entries of a normalised name or synonym.
    pub(crate) fn named(&self, normal: &str) -> impl Iterator<Item = &Entry> {
        self.with_hash(xxh3_64(normal.as_bytes()))
    }

    /// Entries with the same stems as a normalised text.
    pub(crate) fn similar(&self, normal: &str) -> impl Iterator<Item = &Entry> {
        let hash = hash_of_stems(normal, &mut String::new());
        self.with_hash(hash).filter(|entry| entry.source == Source::Stems)
    }

    fn with_hash(&self, hash: u64) -> impl Iterator<Item = &Entry> {
        let start = self.entries.partition_point(|entry| entry.hash < hash);
        self.entries[start..].iter().take_while(move |entry| entry.hash == hash)
    }

    /// Categories with this word in a name.
    pub(crate) fn with_word(&self, word: &str) -> &[(u64, u32)] {
        let hash = xxh3_64(stem(word).as_bytes());
        let start = self.words.partition_point(|entry| entry.0 < hash);
        let end = self.words.partition_point(|entry| entry.0 <= hash);
        &self.words[start..end]
    }

    /// Attributes with this name.
    pub(crate) fn attributes_named(&self, normal: &str) -> impl Iterator<Item = u32> {
        let hash = xxh3_64(normal.as_bytes());
        let start = self.attributes.partition_point(|entry| entry.0 < hash);
        self.attributes[start..].iter().take_while(move |entry| entry.0 == hash).map(|entry| entry.1)
    }

    /// Choices of an attribute with this name.
    pub(crate) fn choices_named(&self, attribute: u32, normal: &str) -> impl Iterator<Item = u16> {
        let key = (attribute, xxh3_64(normal.as_bytes()));
        let start = self.choices.partition_point(|entry| (entry.0, entry.1) < key);
        self.choices[start..].iter().take_while(move |entry| (entry.0, entry.1) == key).map(|entry| entry.2)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
            + self.words.len() * size_of::<(u64, u32)>()
            + self.attributes.len() * size_of::<(u64, u32)>()
            + self.choices.len() * size_of::<(u32, u64, u16)>()
    }
}

#[derive(Default)]
struct Buffers {
    normal: String,
    joined: String,
}

/// The hash of the sorted stems of a normalised text without fillers.
fn hash_of_stems(normal: &str, joined: &mut String) -> u64 {
    let mut stems: smallvec::SmallVec<[&str; 8]> =
        normal.split(' ').filter(|word| !is_filler(word)).map(stem).collect();
    stems.sort_unstable();
    stems.dedup();
    joined.clear();
    // A prefix keeps stems apart from names: the one word "car" is not the name "car".
    joined.push('\u{1}');
    for word in stems {
        joined.push_str(word);
        joined.push(' ');
    }
    xxh3_64(joined.as_bytes())
}
