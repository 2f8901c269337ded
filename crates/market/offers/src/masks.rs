//! Field masks: which fields of an offer are read, and which are changed.
//!
//! A path names a field as the contract does: `title`, `place.address`, `price.range.from`, `attributes.engine-volume`. No path leads into a list
//! (`photos`, `contacts.phones`), a time, or what Torg keeps for itself.
//!
//! What follows `attributes.` is the name of an attribute. In binary requests it is written as it is; between backticks it may hold anything, and it
//! names exactly that attribute. In JSON a mask is one text, `"title,place.placeId,attributes.engineVolume"`, whose words the codec turns from
//! `engineVolume` to `engine_volume` and in which it refuses every other character. So a name of small letters, digits and `_` also stands for the
//! attribute that differs from it only in case and in what parts its words: `engineVolume` in JSON means `engine-volume`, and `Farbe` means `Farbe`.
//! A name that begins with a digit, or has letters beyond the Latin ones, cannot stand in JSON: there, take `attributes` as a whole.

mod attributes;
mod parts;
mod shape;
mod tree;

use buffa_types::google::protobuf::FieldMask;
use wire::torg::offers::v1::{Offer, Photo};

use crate::fields::SELLERS;
use parts::Parts;
use tree::{Branches, Tree};

/// Paths of one mask.
pub const MASK_PATHS_MAX: usize = 256;
/// Bytes of one path.
pub const MASK_PATH_BYTES_MAX: usize = 256;

const ATTRIBUTES: &str = "attributes";
const PHOTOS: &str = "photos";

/// A mask that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    /// No field has this path.
    #[error("an offer has no field `{path}`{}", meant(.nearest.as_deref()))]
    Unknown {
        /// The path as it was given.
        path: String,
        /// The path that was probably meant.
        nearest: Option<String>,
    },
    /// A field that only Torg sets.
    #[error("`{path}` is set by Torg alone: leave it out of the mask")]
    NotSellers {
        /// The path as it was given.
        path: String,
    },
    /// Several attributes are called so.
    #[error("`attributes.{name}` can mean {}: write the name between backticks", .meant.join(" or "))]
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// The attributes that it can mean.
        meant: Vec<String>,
    },
    /// More than [`MASK_PATHS_MAX`] paths.
    #[error("a mask has at most {MASK_PATHS_MAX} paths, this one has {given}")]
    TooManyPaths {
        /// How many there are.
        given: usize,
    },
    /// A path of more than [`MASK_PATH_BYTES_MAX`] bytes.
    #[error("a path of a mask has at most {MASK_PATH_BYTES_MAX} bytes, one has {given}")]
    PathTooLong {
        /// How many there are.
        given: usize,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |path| format!("; did you mean `{path}`?"))
}

/// The fields that an answer has. Never what Torg keeps for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMask(Tree);

impl ReadMask {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Self(Tree::Whole)
    }

    /// Checks every path. A mask without paths, and one with `*`, is everything.
    pub fn parse(mask: &FieldMask) -> Result<Self, MaskError> {
        let tree = Tree::parse(&mask.paths)?;
        Ok(Self(if mask.paths.is_empty() { Tree::Whole } else { tree }))
    }

    /// Whether it leaves nothing out.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0 == Tree::Whole
    }

    /// An offer reduced to these fields.
    #[must_use]
    pub fn reduce(&self, mut offer: Offer) -> Offer {
        offer.keeping = None.into();
        let Tree::Parts(parts) = &self.0 else { return offer };
        offer.keep(parts);
        match parts.get(ATTRIBUTES) {
            None => offer.attributes.clear(),
            Some(Tree::Whole) => {}
            Some(Tree::Parts(names)) => attributes::keep(&mut offer.attributes, names),
        }
        offer
    }
}

/// The fields that a change sets: none but those that a seller sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateMask(Branches);

impl UpdateMask {
    /// All that a seller sets.
    #[must_use]
    pub fn all() -> Self {
        let names = SELLERS.iter().copied().chain([ATTRIBUTES]);
        Self(names.map(|name| (name.to_owned(), Tree::Whole)).collect())
    }

    /// Checks every path. A mask without paths, and one with `*`, is all that a seller sets.
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

    /// Sets the fields of an offer to what they are in another; what that one leaves out is emptied. What Torg found out about a photo or a video stays as
    /// long as it is the same.
    ///
    /// Fails, and changes nothing, if the name of an attribute can mean several.
    pub fn apply(&self, to: &mut Offer, from: &Offer) -> Result<(), MaskError> {
        let names = match self.0.get(ATTRIBUTES) {
            Some(Tree::Parts(names)) => attributes::find(names, &to.attributes, &from.attributes)?,
            Some(Tree::Whole) => to.attributes.keys().chain(from.attributes.keys()).cloned().collect(),
            None => Vec::new(),
        };
        attributes::take(&mut to.attributes, &names, &from.attributes);
        let photos = self.0.contains_key(PHOTOS).then(|| sellers_photos(&to.photos, &from.photos));
        let (photos_before, video) = (std::mem::take(&mut to.photos), to.video.clone());
        to.take(&self.0, from);
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

/// What a seller sets of an offer, and nothing else.
#[must_use]
pub fn sellers_part(offer: &Offer) -> Offer {
    let mut part = Offer::default();
    // All attributes are taken, so that no name can mean several.
    let _ = UpdateMask::all().apply(&mut part, offer);
    part
}

/// The photos that a seller wants, each with what Torg knows of it.
fn sellers_photos(known: &[Photo], wanted: &[Photo]) -> Vec<Photo> {
    let same = |photo: &&Photo, url: &str| photo.source_url == url;
    let of = |url: &str| known.iter().find(|photo| same(photo, url)).cloned();
    let new = |url: &str| Photo { source_url: url.to_owned(), ..Photo::default() };
    wanted.iter().map(|photo| of(&photo.source_url).unwrap_or_else(|| new(&photo.source_url))).collect()
}

fn is_sellers(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    first == tree::EVERYTHING || first == ATTRIBUTES || SELLERS.contains(&first)
}
