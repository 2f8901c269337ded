//! Maps offers of feeds to categories, attributes and places of the catalogue.
//!
//! ```
//! use std::sync::Arc;
//! use unify::{Input, Param, Unifier};
//!
//! let catalogue = Arc::new(catalog::Catalogue::builtin()?);
//! let places = Arc::new(geo::Places::builtin()?);
//! let unifier = Unifier::new(catalogue, places)?;
//! let mut session = unifier.session();
//! let offer = session.unify(&Input {
//!     title: "Смартфон Apple iPhone 13",
//!     path: &["Электроника", "Телефоны"],
//!     params: &[Param { name: "Цвет", value: "чёрный", unit: "" }],
//!     address: Some("г. Казань, ул. Баумана, 1"),
//!     ..Input::default()
//! });
//! assert_eq!(offer.category.unwrap().id, "el-4-8-5-2");
//! assert_eq!(offer.attributes["color"], ["black".into()]);
//! assert_eq!(offer.place.unwrap().name, "Kazan");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees:
//! - Unifying never fails. A [`Mark`] names a field with a problem; a [`Leftover`] keeps what has
//!   no attribute.
//! - A recognised category accepts offers. It has a confidence, a reason and the next likely
//!   category.
//! - The seller's own [`Mapping`] has precedence.
//! - A temporary failure of a geocoder is a mark of its own ([`Unified::is_passing`]): the offer
//!   must not be deleted for it.
//! - The output depends on the input alone. Time and memory for one offer are bounded.
//!
//! Where things are: words (`words.rs`), names of categories (`index.rs`, `tables.rs`, `data/`),
//! scores (`evidence.rs`), the feed's category (`path.rs`), the choice (`category.rs`), attributes
//! (`attributes/`), places (`place.rs`), the whole (`unifier.rs`), measurement (`accuracy.rs`). See
//! `docs/unify.md`.

mod accuracy;
mod attributes;
mod cache;
mod category;
mod error;
mod evidence;
mod index;
mod input;
pub mod limits;
mod mapping;
mod output;
mod path;
mod place;
mod tables;
mod unifier;
mod words;

pub use accuracy::{Accuracy, LABELLED, Labelled, Miss, Part, Score};
pub use error::{Error, Result};
pub use input::{Input, Param};
pub use mapping::{Mapping, NoMapping, path_key};
pub use output::{Leftover, Mark, MarkKind, Reason, Recognised, Unified};
pub use unifier::{Session, Unifier};
