//! The tables that come with the crate: signs of categories, aliases of words, names of parameters, makers, Google's categories.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::limits::TABLE_BYTES_MAX;
use crate::words::{normal, stem_hash};

const SIGNS: &str = include_str!("../data/signs.tsv");
const BRANCHES: &str = include_str!("../data/branches.tsv");
const ALIASES: &str = include_str!("../data/aliases.tsv");
const PARAMS: &str = include_str!("../data/params.tsv");
const MAKERS: &str = include_str!("../data/makers.tsv");
const GOOGLE: &[u8] = include_bytes!("../data/google.tsv.gz");

/// The lines of a table that say something, with their numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// What people call a category beyond its names, with the category's id; `None` for a line that cannot be read. A line may have several
/// names for one category.
pub(crate) fn signs() -> impl Iterator<Item = (usize, Option<(&'static str, &'static str)>)> {
    lines(SIGNS).flat_map(|(number, line)| {
        let (id, names) = line.split_once('\t').unwrap_or((line, ""));
        let names = names.split(',').map(str::trim);
        names.map(move |name| (number, (!name.is_empty()).then_some((name, id))))
    })
}

/// A branch of the catalogue that is meant only if the text says so.
pub(crate) struct Branch {
    pub(crate) id: &'static str,
    pub(crate) cost: f32,
    /// Hashes of the stems of words of which the text needs one.
    pub(crate) words: Vec<u64>,
}

/// A word that says what is done with a thing, and the word that categories for that have.
pub(crate) fn intents() -> [(u64, u64, &'static str); 6] {
    let intent = |word, meant, branch| (stem_hash(word), stem_hash(meant), branch);
    [
        intent("аренда", "аренда", ""),
        intent("прокат", "аренда", ""),
        intent("rental", "rental", ""),
        intent("услуги", "услуги", "services"),
        intent("ремонт", "ремонт", "services"),
        intent("services", "services", "services"),
    ]
}

/// Hashes of the stems of words that say that a thing belongs to another.
pub(crate) fn accessory_words() -> Vec<u64> {
    [
        "аксессуар",
        "запчасть",
        "деталь",
        "насадка",
        "сменный",
        "комплектующие",
        "accessory",
        "part",
        "replacement",
        "spare",
        "attachment",
    ]
    .into_iter()
    .map(stem_hash)
    .collect()
}

pub(crate) fn branches() -> Result<Vec<Branch>> {
    let read = |line: &'static str| {
        let mut fields = line.split('\t');
        let (id, cost) = (fields.next()?, fields.next()?.parse().ok()?);
        let words = fields.next()?.split(',').map(|word| stem_hash(&normal(word))).collect();
        Some(Branch { id, cost, words })
    };
    lines(BRANCHES).map(|(line, text)| read(text).ok_or(Error::Table { table: "branches", line })).collect()
}

/// Words that stand for others, as hashes of stems, sorted.
pub(crate) fn aliases() -> Result<Vec<(u64, u64)>> {
    let mut pairs = Vec::new();
    for (line, text) in lines(ALIASES) {
        let (meant, words) = text.split_once('\t').ok_or(Error::Table { table: "aliases", line })?;
        for word in words.split(',') {
            let pair = |meant| (stem_hash(&normal(word)), stem_hash(meant));
            pairs.extend(normal(meant).split(' ').map(pair));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

/// What feeds call attributes beyond the catalogue's names: normal form to ids, the likeliest first.
pub(crate) fn params() -> Result<BTreeMap<String, Vec<&'static str>>> {
    let mut params: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for (line, text) in lines(PARAMS) {
        let (ids, names) = text.split_once('\t').ok_or(Error::Table { table: "params", line })?;
        for name in names.split(',') {
            params.entry(normal(name)).or_default().extend(ids.split(' '));
        }
    }
    Ok(params)
}

/// Makers by the words that tell them, in normal form.
pub(crate) fn makers() -> Result<BTreeMap<String, &'static str>> {
    let mut makers = BTreeMap::new();
    for (line, text) in lines(MAKERS) {
        let (maker, names) = text.split_once('\t').ok_or(Error::Table { table: "makers", line })?;
        for name in names.split(',').chain([maker]).map(normal).filter(|name| !name.is_empty()) {
            makers.insert(name, maker);
        }
    }
    Ok(makers)
}

/// Google's categories: by number, and by the normal form of their paths.
#[derive(Debug, Default)]
pub(crate) struct Google {
    by_number: BTreeMap<u32, u32>,
    by_path: BTreeMap<u64, u32>,
}

impl Google {
    /// Reads the table; `node` gives the number of a category's id.
    pub(crate) fn read(node: impl Fn(&str) -> Option<u32>) -> Result<Self> {
        let mut text = String::new();
        let unpacked = GzDecoder::new(GOOGLE).take(TABLE_BYTES_MAX).read_to_string(&mut text);
        unpacked.map_err(|_| Error::Table { table: "google", line: 0 })?;
        let mut google = Self::default();
        for (line, text) in lines(&text) {
            let mut fields = text.split('\t');
            let (Some(number), Some(id), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
                return Err(Error::Table { table: "google", line });
            };
            let number: u32 = number.parse().map_err(|_| Error::Table { table: "google", line })?;
            if let Some(category) = node(id) {
                google.by_number.insert(number, category);
                google.by_path.insert(xxh3_64(normal(path).as_bytes()), category);
            }
        }
        Ok(google)
    }

    /// The category of a number or a path.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let text = text.trim();
        let number = text.split([' ', '-', '>']).next().and_then(|number| number.parse().ok());
        let by_number = number.and_then(|number: u32| self.by_number.get(&number));
        by_number.or_else(|| self.by_path.get(&xxh3_64(normal(text).as_bytes()))).copied()
    }
}
