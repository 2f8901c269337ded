//! The valid paths of a mask as a tree.

use std::collections::BTreeMap;

use wire::torg::offers::v1::Offer;

use super::parts::Parts;
use super::shape::nearest;
use super::{ATTRIBUTES, MASK_PATH_BYTES_MAX, MASK_PATHS_MAX, MaskError};

/// The path that means every field.
pub(super) const EVERYTHING: &str = "*";

/// Fields of a message by name.
pub(super) type Branches = BTreeMap<String, Tree>;

/// A whole message or field, or some of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Whole,
    Parts(Branches),
}

impl Tree {
    /// Parses paths of an offer. A mask without paths has no parts.
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

/// The names in a path; none for the whole offer.
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
    let mut names = Vec::new();
    let mut fields = Offer::FIELDS;
    for name in path.split('.') {
        if fields.is_empty() {
            return Err(unknown(Some(names.join("."))));
        }
        let field = fields.iter().find(|field| field.name == name);
        fields = field.ok_or_else(|| unknown(nearest(path)))?.fields;
        names.push(name);
    }
    Ok(names)
}
