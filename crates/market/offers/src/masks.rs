//! Field masks: the fields of an offer that are read or changed.
//!
//! A path names a field as the contract does: `title`, `place.address`, `price.range.from`,
//! `attributes.engine-volume`. No path leads into a list (`photos`, `contacts.phones`) or a time.
//!
//! After `attributes.` comes the name of an attribute. Between backticks it may have any characters
//! and matches exactly. JSON has a mask as one text,
//! `"title,place.placeId,attributes.engineVolume"`, turns `engineVolume` into `engine_volume` and
//! refuses other characters. So a name of lower-case letters, digits and `_` also matches the
//! attribute that differs in case and separators only: `engineVolume` in JSON matches
//! `engine-volume`, `Farbe` matches `Farbe`. JSON cannot express names that begin with a digit or
//! have other than Latin letters: use `attributes` as a whole there.

mod attributes;
mod parts;
mod shape;
mod tree;

use buffa_types::google::protobuf::FieldMask;
use wire::torg::offers::v1::{Offer, Photo};

use crate::fields::{ATTRIBUTES, SELLERS};
use parts::Parts;
use tree::{Branches, Tree};

/// Paths of one mask.
pub const MASK_PATHS_MAX: usize = 256;
/// Bytes of one path.
pub const MASK_PATH_BYTES_MAX: usize = 256;

const PHOTOS: &str = "photos";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    #[error("an offer has no field `{path}`{}", suggestion(.nearest.as_deref()))]
    Unknown {
        path: String,
        /// A suggestion.
        nearest: Option<String>,
    },
    #[error("only Torg sets `{path}`: remove it from the mask")]
    NotSellers { path: String },
    /// The name matches several attributes.
    #[error("`attributes.{name}` matches {}: write the name between backticks", .meant.join(" or "))]
    Ambiguous { name: String, meant: Vec<String> },
    /// More than [`MASK_PATHS_MAX`] paths.
    #[error("a mask has at most {MASK_PATHS_MAX} paths, this one has {given}")]
    TooManyPaths { given: usize },
    /// A path of more than [`MASK_PATH_BYTES_MAX`] bytes.
    #[error("a path of a mask has at most {MASK_PATH_BYTES_MAX} bytes, one has {given}")]
    PathTooLong { given: usize },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |path| format!("; did you mean `{path}`?"))
}

/// The fields of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMask(Tree);

impl ReadMask {
    #[must_use]
    pub fn all() -> Self {
        Self(Tree::Whole)
    }

    /// A mask without paths, and one with `*`, has all fields.
    pub fn parse(mask: &FieldMask) -> Result<Self, MaskError> {
        let tree = Tree::parse(&mask.paths)?;
        Ok(Self(if mask.paths.is_empty() { Tree::Whole } else { tree }))
    }

    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0 == Tree::Whole
    }

    #[must_use]
    pub fn reduce(&self, mut offer: Offer) -> Offer {
        let Tree::Parts(parts) = &self.0 else { return offer };
        offer.retain(parts);
        match parts.get(ATTRIBUTES) {
            None => offer.attributes.clear(),
            Some(Tree::Whole) => {}
            Some(Tree::Parts(names)) => attributes::retain(&mut offer.attributes, names),
        }
        offer
    }
}

/// The fields that a change sets, all of which a seller may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateMask(Branches);

impl UpdateMask {
    #[must_use]
    pub fn all() -> Self {
        let names = SELLERS.iter().copied().chain([ATTRIBUTES]);
        Self(names.map(|name| (name.to_owned(), Tree::Whole)).collect())
    }

    /// A mask without paths, and one with `*`, has all fields that a seller sets.
    pub fn parse(mask: &FieldMask) -> Result<Self, MaskError> {
        let tree = Tree::parse(&mask.paths)?;
        if let Some(path) = mask.paths.iter().find(|path| !is_sellers(path)) {
            return Err(MaskError::NotSellers { path: path.clone() });
        }
        Ok(match tree {
            Tree::Parts(parts) if !parts.is_empty() => Self(parts),
            Tree::Parts(_) | Tree::Whole => Self::all(),
        })
    }

    /// Copies the fields from another offer, also empty ones. What stages found out about a photo
    /// or a video stays if its URL does.
    ///
    /// Fails without a change if a name matches several attributes.
    pub fn apply(&self, to: &mut Offer, from: &Offer) -> Result<(), MaskError> {
        let names = match self.0.get(ATTRIBUTES) {
            Some(Tree::Parts(names)) => attributes::find(names, &to.attributes, &from.attributes)?,
            Some(Tree::Whole) => to.attributes.keys().chain(from.attributes.keys()).cloned().collect(),
            None => Vec::new(),
        };
        attributes::copy(&mut to.attributes, &names, &from.attributes);
        let photos = self.0.contains_key(PHOTOS).then(|| sellers_photos(&to.photos, &from.photos));
        let photos_before = std::mem::take(&mut to.photos);
        let video = to.video.clone();
        to.copy(&self.0, from);
        to.photos = photos.unwrap_or_else(|| photos_before.clone());
        if to.photos != photos_before {
            to.photo_order.clear();
        }
        if let Some(wanted) = to.video.as_option_mut() {
            let known = video.as_option().filter(|known| known.url == wanted.url);
            wanted.availability = known.map(|known| known.availability.clone()).unwrap_or_default();
        }
        Ok(())
    }
}

/// An offer with only the fields that a seller sets.
#[must_use]
pub fn sellers_part(offer: &Offer) -> Offer {
    let mut part = Offer::default();
    // Cannot fail: whole attributes are not matched by name.
    let _ = UpdateMask::all().apply(&mut part, offer);
    part
}

/// The wanted photos, each with what is known of it.
fn sellers_photos(known: &[Photo], wanted: &[Photo]) -> Vec<Photo> {
    let of = |url: &str| known.iter().find(|photo| photo.source_url == url).cloned();
    let new = |url: &str| Photo { source_url: url.to_owned(), ..Photo::default() };
    wanted.iter().map(|photo| of(&photo.source_url).unwrap_or_else(|| new(&photo.source_url))).collect()
}

fn is_sellers(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    first == tree::EVERYTHING || first == ATTRIBUTES || SELLERS.contains(&first)
}
