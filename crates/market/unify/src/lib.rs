//! The unifier: brings what a feed says about an offer into the words of the catalogue.
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
//! What is promised:
//! - Unifying never fails. What could not be done is a [`Mark`] that names the field; what has no place is a [`Leftover`], never lost.
//! - A recognised category is one that offers can stand in. It comes with how sure that is, by what, and the next likely one.
//! - What the seller has decided ([`Mapping`]) wins over everything.
//! - A failure of a geocoder that may pass is a mark of its own ([`Unified::is_passing`]): the offer goes on, and is not deleted.
//! - The same input gives the same output, whatever came before. Time and memory for one offer are bounded, whatever it says.
//!
//! Where things are: input and output (`input.rs`, `output.rs`), words (`words.rs`), all names of categories (`index.rs`, `tables.rs`,
//! `data/`), what a text says for each category (`evidence.rs`), the feed's category (`path.rs`), the decision (`category.rs`),
//! attributes (`attributes/`), places (`place.rs`), the whole (`unifier.rs`), how well it does (`accuracy.rs`). Every limit is in
//! [`limits`]; `docs/unify.md` explains the rest.

mod accuracy;
mod attributes;
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
