//! The index of all names of categories.

use std::collections::BTreeMap;

use catalog::Catalogue;

use crate::error::{Error, Result};
use crate::tables::{self, Branch};
use crate::words::{Words, of_name};

pub(crate) const NOTHING: u32 = u32::MAX;
const NO_BRANCH: u16 = u16::MAX;

/// A name of a category as a set of stems.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    /// The target of offers with this name.
    pub(crate) category: u32,
    /// The sum of the rarity of its words.
    pub(crate) weight: f32,
    /// Below 1 for a mere hint at the category.
    pub(crate) factor: f32,
    /// The number of words.
    pub(crate) words: u8,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: Box<str>,
    pub(crate) parent: u32,
    pub(crate) depth: u8,
    pub(crate) accepts_offers: bool,
    pub(crate) has_children: bool,
    /// The category or an ancestor is for accessories.
    pub(crate) is_accessory: bool,
    /// The category itself, or the replacement of a closed one.
    pub(crate) target: u32,
    /// A range of [`Index::own_stems`].
    stems: (u32, u32),
    /// The nearest branch at or above it that requires certain words.
    branch: u16,
}

/// Words, names and categories by number. Words are identified by the hash of their stem.
pub(crate) struct Index {
    pub(crate) nodes: Vec<Node>,
    by_id: BTreeMap<Box<str>, u32>,
    hashes: Vec<u64>,
    pub(crate) rarity: Vec<f32>,
    /// By word, the start of its range of `labels_of`.
    starts: Vec<u32>,
    labels_of: Vec<u32>,
    pub(crate) labels: Vec<Label>,
    own_stems: Vec<u32>,
    /// "сдам" stands for "аренда".
    aliases: Vec<(u64, u64)>,
    branches: Vec<Branch>,
    pub(crate) accessory_words: Vec<u64>,
    intents: Vec<(u64, u32, u32)>,
}

struct Draft {
    category: u32,
    words: Words,
    factor: f32,
}

/// For synonyms.
const FACTOR_SYNONYM: f32 = 0.95;
/// For names of a closed category, which count for its replacement.
const FACTOR_CLOSED: f32 = 0.7;
/// Shorter makes of vehicles are ambiguous.
const MAKE_CHARS_MIN: usize = 3;
/// Makes of cars are only a hint at the category.
const FACTOR_MAKE: f32 = 0.6;
const FACTOR_RARE_MAKE: f32 = 0.45;

impl Index {
    pub(crate) fn new(catalogue: &Catalogue) -> Result<Self> {
        let mut nodes = nodes_of(catalogue);
        let by_id: BTreeMap<Box<str>, u32> =
            nodes.iter().enumerate().map(|(number, node)| (node.id.clone(), number as u32)).collect();
        let aliases = tables::aliases()?;
        let branches = tables::branches()?;
        mark_branches(&mut nodes, &branches, &by_id);
        let drafts = drafts_of(catalogue, &nodes, &by_id)?;
        let mut hashes: Vec<u64> =
            drafts.iter().flat_map(|draft| draft.words.iter().map(|word| word.stem)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let number_of = |stem: u64| hashes.binary_search(&stem).map_or(NOTHING, |number| number as u32);
        let rarity = rarity_of(&drafts, hashes.len(), nodes.len(), number_of);
        let own_stems = own_stems_of(&drafts, &mut nodes, number_of);
        let (labels, pairs) = labels_of(&drafts, &nodes, &rarity, number_of);
        let (starts, labels_of) = postings(pairs, hashes.len());
        let intents = tables::intents().into_iter();
        let intents = intents.map(|(word, meant, branch)| {
            (word, number_of(meant), by_id.get(branch).copied().unwrap_or(NOTHING))
        });
        let intents = intents.collect();
        let accessory_words = tables::accessory_words();
        Ok(Self {
            nodes,
            by_id,
            hashes,
            rarity,
            starts,
            labels_of,
            labels,
            own_stems,
            aliases,
            branches,
            accessory_words,
            intents,
        })
    }

    pub(crate) fn node(&self, id: &str) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    /// The number of a word that occurs in a name.
    pub(crate) fn word(&self, stem: u64) -> Option<u32> {
        self.hashes.binary_search(&stem).ok().map(|number| number as u32)
    }

    /// The words that a word stands for.
    pub(crate) fn alias(&self, stem: u64) -> impl Iterator<Item = u64> {
        let start = self.aliases.partition_point(|(known, _)| *known < stem);
        self.aliases[start..].iter().take_while(move |(known, _)| *known == stem).map(|(_, meant)| *meant)
    }

    /// The labels with a word.
    pub(crate) fn labels_with(&self, word: u32) -> &[u32] {
        &self.labels_of[self.starts[word as usize] as usize..self.starts[word as usize + 1] as usize]
    }

    /// The words of the names of a category.
    pub(crate) fn stems_of(&self, category: u32) -> &[u32] {
        let (start, end) = self.nodes[category as usize].stems;
        &self.own_stems[start as usize..end as usize]
    }

    /// The nearest branch at or above a category that requires certain words.
    pub(crate) fn branch(&self, category: u32) -> Option<&Branch> {
        self.branches.get(usize::from(self.nodes[category as usize].branch))
    }

    /// Intents in the words, such as rent or repair: the word in names of such categories, and
    /// their branch.
    pub(crate) fn intents_of(&self, words: &Words) -> impl Iterator<Item = (u32, u32)> {
        let is_said = |intent: &&(u64, u32, u32)| words.iter().any(|word| word.stem == intent.0);
        self.intents.iter().filter(is_said).map(|intent| (intent.1, intent.2))
    }

    /// The category and its ancestors.
    pub(crate) fn upwards(&self, category: u32) -> impl Iterator<Item = u32> {
        let above =
            |number: &u32| Some(self.nodes[*number as usize].parent).filter(|parent| *parent != NOTHING);
        std::iter::successors(Some(category), above)
    }

    /// The number of common ancestors, themselves included.
    pub(crate) fn common(&self, a: u32, b: u32) -> u8 {
        let (mut a, mut b) = (a, b);
        while a != b {
            let (deep_a, deep_b) = (self.nodes[a as usize].depth, self.nodes[b as usize].depth);
            if deep_a == 0 && deep_b == 0 {
                return 0;
            }
            if deep_a >= deep_b {
                a = self.nodes[a as usize].parent;
            } else {
                b = self.nodes[b as usize].parent;
            }
        }
        self.nodes[a as usize].depth + 1
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 60)
            + self.hashes.len() * (size_of::<u64>() + 8)
            + self.labels_of.len() * 4
            + self.labels.len() * size_of::<Label>()
            + self.own_stems.len() * 4
    }
}

fn nodes_of(catalogue: &Catalogue) -> Vec<Node> {
    let ids: BTreeMap<&str, u32> =
        catalogue.categories().enumerate().map(|(number, category)| (category.id(), number as u32)).collect();
    let number_of = |category: catalog::Category<'_>| ids.get(category.id()).copied().unwrap_or(NOTHING);
    catalogue
        .categories()
        .map(|category| {
            let own = number_of(category);
            let instead = category.instead().map_or(NOTHING, number_of);
            Node {
                id: category.id().into(),
                parent: category.parent().map_or(NOTHING, number_of),
                depth: category.depth() as u8,
                accepts_offers: category.accepts_offers(),
                has_children: category.children().len() > 0,
                is_accessory: is_accessory(category),
                target: if category.is_closed() { instead } else { own },
                stems: (0, 0),
                branch: NO_BRANCH,
            }
        })
        .collect()
}

/// Whether a category is "Refrigerator Accessories" or the like. Broad categories and our own
/// branches are marked otherwise.
fn is_accessory(category: catalog::Category<'_>) -> bool {
    let is_one = |category: catalog::Category<'_>| {
        let name = category.name("en");
        let ends = ["Accessories", "Parts", "Attachments", "Replacements"]
            .iter()
            .any(|ending| name.ends_with(ending));
        category.depth() >= 2 && ends && !category.id().contains('/')
    };
    is_one(category) || category.ancestors().any(is_one)
}

fn mark_branches(nodes: &mut [Node], branches: &[Branch], by_id: &BTreeMap<Box<str>, u32>) {
    let roots: BTreeMap<u32, u16> = branches
        .iter()
        .enumerate()
        .filter_map(|(number, branch)| Some((*by_id.get(branch.id)?, number as u16)))
        .collect();
    for number in 0..nodes.len() as u32 {
        let above = |number: &u32| Some(nodes[*number as usize].parent).filter(|parent| *parent != NOTHING);
        let mut upwards = std::iter::successors(Some(number), above);
        let branch = upwards.find_map(|category| roots.get(&category).copied());
        nodes[number as usize].branch = branch.unwrap_or(NO_BRANCH);
    }
}

/// Names and synonyms of the catalogue, our own signs, and makes of vehicles.
fn drafts_of(catalogue: &Catalogue, nodes: &[Node], by_id: &BTreeMap<Box<str>, u32>) -> Result<Vec<Draft>> {
    let mut drafts = Vec::new();
    for (number, category) in catalogue.categories().enumerate() {
        let names = catalogue.languages().iter().map(|language| (category.name(language), 1.0));
        let synonyms = category.synonyms().map(|(_, name)| (name, FACTOR_SYNONYM));
        for (name, factor) in names.chain(synonyms) {
            let factor = if category.is_closed() { factor * FACTOR_CLOSED } else { factor };
            drafts.push(Draft { category: number as u32, words: of_name(name), factor });
        }
    }
    for (line, sign) in tables::signs() {
        let (name, id) = sign.ok_or(Error::Table { table: "signs", line })?;
        // Another catalogue may lack the category.
        if let Some(category) = by_id.get(id) {
            drafts.push(Draft { category: *category, words: of_name(name), factor: 1.0 });
        }
    }
    let makes = [
        ("car-make", "transport/cars", FACTOR_MAKE),
        ("moto-make", "transport/motorcycles/motorcycles", FACTOR_RARE_MAKE),
        ("truck-make", "transport/trucks/lorries", FACTOR_RARE_MAKE),
    ];
    for (attribute, id, factor) in makes {
        let (Some(attribute), Some(category)) = (catalogue.attribute(attribute), by_id.get(id)) else {
            continue;
        };
        for choice in attribute.choices() {
            // "AC" has other meanings in too many titles.
            let names = [choice.name("en"), choice.name("ru")].into_iter();
            for name in names.filter(|name| name.chars().count() >= MAKE_CHARS_MIN) {
                drafts.push(Draft { category: *category, words: of_name(name), factor });
            }
        }
    }
    drafts.retain(|draft| !draft.words.is_empty() && nodes[draft.category as usize].target != NOTHING);
    Ok(drafts)
}

/// The natural logarithm of the number of categories by category with the word.
fn rarity_of(drafts: &[Draft], words: usize, categories: usize, number_of: impl Fn(u64) -> u32) -> Vec<f32> {
    let mut having = vec![0_u32; words];
    let mut last = vec![NOTHING; words];
    for draft in drafts {
        for word in &draft.words {
            let number = number_of(word.stem) as usize;
            if last[number] != draft.category {
                last[number] = draft.category;
                having[number] += 1;
            }
        }
    }
    having.into_iter().map(|count| (categories as f32 / (count.max(1) as f32)).ln().max(0.5)).collect()
}

fn own_stems_of(drafts: &[Draft], nodes: &mut [Node], number_of: impl Fn(u64) -> u32) -> Vec<u32> {
    let mut pairs: Vec<(u32, u32)> = drafts
        .iter()
        .filter(|draft| draft.factor >= FACTOR_SYNONYM)
        .flat_map(|draft| draft.words.iter().map(|word| (draft.category, number_of(word.stem))))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut start = 0;
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let end = start + group.len() as u32;
        nodes[group[0].0 as usize].stems = (start, end);
        start = end;
    }
    pairs.into_iter().map(|(_, word)| word).collect()
}

/// The labels, and pairs of word and label.
fn labels_of(
    drafts: &[Draft],
    nodes: &[Node],
    rarity: &[f32],
    number_of: impl Fn(u64) -> u32,
) -> (Vec<Label>, Vec<(u32, u32)>) {
    let (mut labels, mut pairs) = (Vec::with_capacity(drafts.len()), Vec::with_capacity(drafts.len() * 2));
    for draft in drafts {
        let words = draft.words.iter().map(|word| number_of(word.stem));
        let weight = words.clone().map(|word| rarity[word as usize]).sum();
        pairs.extend(words.map(|word| (word, labels.len() as u32)));
        let category = nodes[draft.category as usize].target;
        labels.push(Label { category, weight, factor: draft.factor, words: draft.words.len() as u8 });
    }
    (labels, pairs)
}

fn postings(mut pairs: Vec<(u32, u32)>, words: usize) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    let mut starts = vec![0_u32; words + 1];
    for (word, _) in &pairs {
        starts[*word as usize + 1] += 1;
    }
    for word in 0..words {
        starts[word + 1] += starts[word];
    }
    (starts, pairs.into_iter().map(|(_, label)| label).collect())
}
