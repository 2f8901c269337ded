//! The paths of a mask as a tree, checked.

use std::collections::BTreeMap;

use super::shape::{OFFER, Shape, nearest};
use super::{ATTRIBUTES, MASK_PATH_BYTES_MAX, MASK_PATHS_MAX, MaskError};

/// The path that means every field.
pub(super) const EVERYTHING: &str = "*";

/// Parts of a message, by name.
pub(super) type Branches = BTreeMap<String, Tree>;

/// A message or field: all of it, or some of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Whole,
    Parts(Branches),
}

impl Tree {
    /// Checks paths of an offer. No paths are no parts.
    pub(super) fn parse(paths: &[String]) -> Result<Self, MaskError> {
        if paths.len() > MASK_PATHS_MAX {
            return Err(MaskError::TooManyPaths { given: paths.len() });
        }
        let mut tree = Self::Parts(Branches::new());
        for path in paths {
            tree.add(&segments(path)?);
        }
        Ok(tree)
    }

    fn add(&mut self, segments: &[&str]) {
        let Self::Parts(parts) = self else { return };
        match segments {
            [] => *self = Self::Whole,
            [first, rest @ ..] => {
                let part = parts.entry((*first).to_owned()).or_insert_with(|| Self::Parts(Branches::new()));
                part.add(rest);
            }
        }
    }
}

/// The steps of a path that an offer has; none for all of it.
fn segments(path: &str) -> Result<Vec<&str>, MaskError> {
    if path.len() > MASK_PATH_BYTES_MAX {
        return Err(MaskError::PathTooLong { given: path.len() });
    }
    if path == EVERYTHING {
        return Ok(Vec::new());
    }
    let unknown = |nearest: Option<String>| MaskError::Unknown { path: path.to_owned(), nearest };
    if let Some((ATTRIBUTES, name)) = path.split_once('.') {
        let empty = name.is_empty() || name == "``";
        return if empty { Err(unknown(Some(ATTRIBUTES.to_owned()))) } else { Ok(vec![ATTRIBUTES, name]) };
    }
    let (mut steps, mut shape) = (Vec::new(), &Shape::Message(OFFER));
    for step in path.split('.') {
        let Shape::Message(fields) = shape else { return Err(unknown(Some(steps.join(".")))) };
        let Some((_, next)) = fields.iter().find(|(name, _)| *name == step) else {
            return Err(unknown(nearest(path)));
        };
        steps.push(step);
        shape = next;
    }
    Ok(steps)
}
