//! The tree of categories: ids, parents, order and texts.

use crate::catalogue::{NOTHING, Node, Text};
use crate::declared::{CategorySource, Named};
use crate::error::{At, Problems};
use crate::ids::IdIndex;
use crate::limits::{CATEGORIES_MAX, DEPTH_MAX};

use super::attributes::duplicate;
use super::labels::Labeller;

/// Parents, and an order in which parents precede their children.
pub(crate) struct Shape {
    pub(crate) parents: Vec<u32>,
    pub(crate) depths: Vec<u8>,
    /// Categories that are reachable from a root, parents first.
    pub(crate) order: Vec<u32>,
    pub(crate) children: Vec<u32>,
    pub(crate) children_of: Vec<(u32, u32)>,
    pub(crate) roots: Vec<u32>,
}

pub(crate) struct Tree {
    pub(crate) texts: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) names: Vec<Text>,
    pub(crate) synonyms: Vec<(u8, Text)>,
    pub(crate) children: Vec<u32>,
    pub(crate) roots: Vec<u32>,
}

/// Indexes categories by their ids and drops duplicates.
pub(crate) fn index(categories: &mut Vec<CategorySource>, problems: &mut Problems) -> IdIndex {
    if categories.len() > CATEGORIES_MAX {
        let at = categories[CATEGORIES_MAX].named.at;
        problems.add(at, "there are too many categories", format!("keep at most {CATEGORIES_MAX}"));
        categories.truncate(CATEGORIES_MAX);
    }
    let mut ids = IdIndex::with_capacity(categories.len());
    let mut kept: Vec<CategorySource> = Vec::with_capacity(categories.len());
    for category in categories.drain(..) {
        let id = &category.named.id;
        let known = ids.insert(id, kept.len() as u32, |number| &kept[number as usize].named.id);
        match known {
            Some(first) => {
                duplicate(problems, "category", id, kept[first as usize].named.at, category.named.at);
            }
            None => kept.push(category),
        }
    }
    *categories = kept;
    ids
}

/// Merges extensions into their categories.
pub(crate) fn extend(
    categories: &mut [CategorySource],
    extensions: Vec<CategorySource>,
    ids: &IdIndex,
    problems: &mut Problems,
) {
    for CategorySource { named: Named { id, at, names, synonyms }, own, .. } in extensions {
        let Some(number) = find(categories, ids, &id) else {
            unknown_category(categories, &id, at, problems);
            continue;
        };
        let category = &mut categories[number as usize];
        if !names.is_empty() {
            category.named.names = names;
        }
        category.named.synonyms.extend(synonyms);
        match (&mut category.own, own) {
            (own @ None, added) => *own = added,
            (Some(_), None) => {}
            (Some(_), Some(_)) => {
                let what = format!("`{id}` has rules of its own and an extension with rules");
                problems.add(at, what, "write them in one place");
            }
        }
    }
}

pub(crate) fn find(categories: &[CategorySource], ids: &IdIndex, id: &str) -> Option<u32> {
    ids.find(id, |number| &categories[number as usize].named.id)
}

pub(crate) fn unknown_category(categories: &[CategorySource], id: &str, at: At, problems: &mut Problems) {
    let known = categories.iter().map(|category| &*category.named.id);
    let advice = format!("add it: `[category.\"{id}\"]`");
    problems.add_unknown(at, format!("there is no category `{id}`"), id, known, &advice);
}

/// Resolves parents. A missing parent, a cycle and a tree that is too deep are problems.
pub(crate) fn shape(categories: &[CategorySource], ids: &IdIndex, problems: &mut Problems) -> Shape {
    let mut parents = vec![NOTHING; categories.len()];
    let mut roots = Vec::new();
    for (number, category) in categories.iter().enumerate() {
        match &category.parent {
            None => roots.push(number as u32),
            Some((parent, at)) => match find(categories, ids, parent) {
                Some(parent) => parents[number] = parent,
                None => unknown_category(categories, parent, *at, problems),
            },
        }
    }
    let (children, children_of) = children(&parents);
    let mut shape = Shape {
        depths: vec![0; parents.len()],
        order: Vec::with_capacity(parents.len()),
        parents,
        children,
        children_of,
        roots,
    };
    shape.order.extend(&shape.roots);
    let mut next = 0;
    while let Some(&number) = shape.order.get(next) {
        next += 1;
        let (start, end) = shape.children_of[number as usize];
        for &child in &shape.children[start as usize..end as usize] {
            shape.depths[child as usize] = shape.depths[number as usize].saturating_add(1);
            shape.order.push(child);
        }
    }
    report_unreachable(categories, &shape, problems);
    shape
}

/// Reports cycles and categories that are too deep.
fn report_unreachable(categories: &[CategorySource], shape: &Shape, problems: &mut Problems) {
    let mut reached = vec![false; categories.len()];
    for &number in &shape.order {
        reached[number as usize] = true;
    }
    for (number, CategorySource { named: Named { id, at, .. }, .. }) in categories.iter().enumerate() {
        if usize::from(shape.depths[number]) > DEPTH_MAX {
            problems.add(
                *at,
                format!("`{id}` is too deep"),
                format!("at most {DEPTH_MAX} levels below its root"),
            );
        }
        if !reached[number] && shape.parents[number] != NOTHING && in_cycle(number as u32, &shape.parents) {
            problems.add(
                *at,
                format!("`{id}` is its own ancestor"),
                "give one category of the cycle another parent",
            );
        }
    }
}

fn in_cycle(number: u32, parents: &[u32]) -> bool {
    let mut above = parents[number as usize];
    for _ in 0..parents.len() {
        if above == NOTHING {
            return false;
        }
        if above == number {
            return true;
        }
        above = parents[above as usize];
    }
    false
}

/// Children grouped by parent in the order of the files, and the range of each parent.
fn children(parents: &[u32]) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut counts = vec![0u32; parents.len()];
    for &parent in parents.iter().filter(|parent| **parent != NOTHING) {
        counts[parent as usize] += 1;
    }
    let mut start = 0;
    let mut children_of: Vec<(u32, u32)> = Vec::with_capacity(parents.len());
    for count in counts {
        children_of.push((start, start));
        start += count;
    }
    let mut children = vec![0; start as usize];
    for (number, &parent) in parents.iter().enumerate() {
        if parent != NOTHING {
            let end = &mut children_of[parent as usize].1;
            children[*end as usize] = number as u32;
            *end += 1;
        }
    }
    (children, children_of)
}

pub(crate) fn build(
    categories: &[CategorySource],
    shape: &Shape,
    rules_of: &[u32],
    ids: &IdIndex,
    labeller: &Labeller,
    problems: &mut Problems,
) -> Tree {
    let mut tree = Tree {
        texts: String::with_capacity(categories.len() * 64),
        nodes: Vec::with_capacity(categories.len()),
        names: Vec::with_capacity(categories.len() * labeller.count()),
        synonyms: Vec::new(),
        children: shape.children.clone(),
        roots: shape.roots.clone(),
    };
    for (number, category) in categories.iter().enumerate() {
        let named = &category.named;
        let id = put(&mut tree.texts, &named.id);
        let (texts, names) = (&mut tree.texts, &mut tree.names);
        labeller.each_name(named, problems, |name| {
            names.push(put(texts, name));
        });
        let first_synonym = tree.synonyms.len() as u32;
        for (language, name) in &named.synonyms {
            tree.synonyms.push((labeller.place(*language), put(&mut tree.texts, name)));
        }
        let children = shape.children_of[number];
        let own = category.own.as_deref();
        let instead = own.and_then(|own| own.instead.as_ref()).map(|(id, at)| {
            find(categories, ids, id).unwrap_or_else(|| {
                unknown_category(categories, id, *at, problems);
                NOTHING
            })
        });
        tree.nodes.push(Node {
            id,
            parent: shape.parents[number],
            children,
            synonyms: (first_synonym, tree.synonyms.len() as u32),
            rules: rules_of[number],
            instead: instead.unwrap_or(NOTHING),
            depth: shape.depths[number],
            accepts_offers: own
                .and_then(|own| own.offers)
                .unwrap_or(category.takes_offers || children.0 == children.1),
            closed: own.is_some_and(|own| own.closed),
        });
    }
    close_branches(&mut tree.nodes, &shape.order);
    tree
}

/// Closes everything below a closed category; its replacement is inherited.
fn close_branches(nodes: &mut [Node], order: &[u32]) {
    for &number in order {
        let node = &nodes[number as usize];
        if node.parent != NOTHING {
            let parent = &nodes[node.parent as usize];
            let (closed, instead) = (parent.closed, parent.instead);
            let node = &mut nodes[number as usize];
            node.closed |= closed;
            if closed && node.instead == NOTHING {
                node.instead = instead;
            }
        }
        let node = &mut nodes[number as usize];
        node.accepts_offers &= !node.closed;
    }
}

fn put(texts: &mut String, text: &str) -> Text {
    let start = texts.len() as u32;
    texts.push_str(text);
    Text { start, end: texts.len() as u32 }
}
