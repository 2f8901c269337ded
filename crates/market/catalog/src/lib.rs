//! The catalogue of a marketplace: categories, their attributes, and the rules for offers in them.
//!
//! - [`Sources`] reads a [`Catalogue`] from files, checks it as a whole and reports all problems
//!   with their lines.
//! - [`Catalogue::builtin`] has Shopify's 14,606 product categories, and branches for transport,
//!   real estate, jobs and services, in English and Russian.
//! - [`Catalogue::validate`] returns all violations of an offer with field paths, machine codes and
//!   limits.
//! - [`Catalogue::find_category`], [`Category::find_attribute`], [`Category::read_pairs`] and
//!   [`Use::read`] recognise texts of people and feeds.
//! - A [`Migration`] moves offers to the next version of a catalogue and reports obstacles.
//!
//! ```
//! use catalog::{Catalogue, Code, Item, OwnedValue};
//!
//! let catalogue = Catalogue::builtin()?;
//! let cars = catalogue.find_category("Легковые автомобили", Some("ru"))[0].category;
//! assert_eq!(cars.id(), "transport/cars");
//!
//! let mut offer = Item { category: cars.id().into(), title: "Volga, runs".into(), ..Item::default() };
//! offer.attributes.insert("mileage".into(), vec![OwnedValue::Whole(-5)]);
//! let violations = catalogue.validate(&offer);
//! let mileage = violations.iter().find(|found| found.field.to_string() == "attributes.mileage").unwrap();
//! assert_eq!(mileage.code(), Code::TooSmall);
//! assert_eq!(mileage.text(&catalogue, "ru"), "Пробег: не меньше 0 км");
//! # Ok::<(), catalog::Error>(())
//! ```
//!
//! Guarantees:
//! - A catalogue is immutable and can be shared between threads.
//! - Rules of a category hold in all its descendants: a child adds and narrows, it never widens.
//! - Validation of a valid offer with at most sixteen choices allocates nothing.
//!
//! Where things are: `read/` parses files into `declared.rs`, `build/` makes the [`Catalogue`]
//! (`catalogue.rs`, views in `attribute.rs`); `validate/`, `find/`, `recognise.rs` and `migrate/`
//! use it. The built-in files are in `data/`; `docs/catalog.md` describes their format.

mod attribute;
mod build;
mod catalogue;
mod decimal;
mod declared;
mod error;
mod find;
mod ids;
mod kind;
pub mod limits;
mod migrate;
mod read;
mod recognise;
mod rules;
mod sources;
pub mod text;
mod validate;
mod value;
mod violation;

pub use catalogue::{Attribute, Catalogue, Category, Choice, Condition, Unit, Use};
pub use decimal::Decimal;
pub use error::{Error, Problem, Result};
pub use find::{Candidate, Reason};
pub use kind::Kind;
pub use migrate::{Hindrance, Migration, MigrationReport, Obstacle, Outcome};
pub use rules::{Bounds, Limits};
pub use sources::Sources;
pub use value::{Date, Item, OwnedPrice, OwnedValue, Price, PriceKind, Subject, Value};
pub use violation::{Code, Fault, Field, Violation};
