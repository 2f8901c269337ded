//! The bundled tables: signs of categories, aliases of words, names of parameters, makers, Google's
//! categories.

use std::collections::BTreeMap;
use std::io::Read;

use catalog::text::normalise;
use flate2::read::GzDecoder;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::limits::TABLE_BYTES_MAX;
use crate::words::stem_hash;

const SIGNS: &str = include_str!("../data/signs.tsv");
const BRANCHES: &str = include_str!("../data/branches.tsv");
const ALIASES: &str = include_str!("../data/aliases.tsv");
const PARAMS: &str = include_str!("../data/params.tsv");
const MAKERS: &str = include_str!("../data/makers.tsv");
const GOOGLE: &[u8] = include_bytes!("../data/google.tsv.gz");

/// Lines of a table without comments, with their numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The lines of a table with two columns.
fn rows(
    table: &'static str,
    text: &'static str,
) -> impl Iterator<Item = Result<(&'static str, &'static str)>> {
    lines(text).map(move |(line, text)| text.split_once('\t').ok_or(Error::Table { table, line }))
}

/// Colloquial names with the category's id; `None` for an invalid line.
pub(crate) fn signs() -> impl Iterator<Item = (usize, Option<(&'static str, &'static str)>)> {
    lines(SIGNS).flat_map(|(number, line)| {
        let (id, names) = line.split_once('\t').unwrap_or((line, ""));
        let names = names.split(',').map(str::trim);
        names.map(move |name| (number, (!name.is_empty()).then_some((name, id))))
    })
}

/// A branch of the catalogue that requires certain words in the text.
pub(crate) struct Branch {
    pub(crate) id: &'static str,
    pub(crate) cost: f32,
    /// Hashes of stems; the text must have one of them.
    pub(crate) words: Vec<u64>,
}

/// A word for an intent, the word in names of such categories, and their branch.
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

/// Hashes of stems of words for accessories.
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
        let words = fields.next()?.split(',').map(|word| stem_hash(&normalise(word))).collect();
        Some(Branch { id, cost, words })
    };
    lines(BRANCHES).map(|(line, text)| read(text).ok_or(Error::Table { table: "branches", line })).collect()
}

/// Aliases as sorted pairs of hashes of stems.
pub(crate) fn aliases() -> Result<Vec<(u64, u64)>> {
    let mut pairs = Vec::new();
    for row in rows("aliases", ALIASES) {
        let (meant, words) = row?;
        for word in words.split(',') {
            let pair = |meant| (stem_hash(&normalise(word)), stem_hash(meant));
            pairs.extend(normalise(meant).split(' ').map(pair));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

/// Names of attributes in feeds: normal form to ids, the most likely first.
pub(crate) fn params() -> Result<BTreeMap<String, Vec<&'static str>>> {
    let mut params: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for row in rows("params", PARAMS) {
        let (ids, names) = row?;
        for name in names.split(',') {
            params.entry(normalise(name)).or_default().extend(ids.split(' '));
        }
    }
    Ok(params)
}

/// Makers by their names and product lines in normal form.
pub(crate) fn makers() -> Result<BTreeMap<String, &'static str>> {
    let mut makers = BTreeMap::new();
    for row in rows("makers", MAKERS) {
        let (maker, names) = row?;
        for name in names.split(',').chain([maker]).map(normalise).filter(|name| !name.is_empty()) {
            makers.insert(name, maker);
        }
    }
    Ok(makers)
}

/// Google's categories by number and by the hash of their normalised path.
#[derive(Debug, Default)]
pub(crate) struct Google {
    by_number: BTreeMap<u32, u32>,
    by_path: BTreeMap<u64, u32>,
}

impl Google {
    /// `node` maps a category id to its number.
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
                google.by_path.insert(xxh3_64(normalise(path).as_bytes()), category);
            }
        }
        Ok(google)
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let text = text.trim();
        let number = text.split([' ', '-', '>']).next().and_then(|number| number.parse().ok());
        let by_number = number.and_then(|number: u32| self.by_number.get(&number));
        by_number.or_else(|| self.by_path.get(&xxh3_64(normalise(text).as_bytes()))).copied()
    }
}
