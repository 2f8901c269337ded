//! The catalogue of a marketplace: which categories there are, what an offer in each of them says, and what it must not say.
//!
//! - [`Sources`] reads a [`Catalogue`] from files and checks it as a whole: every problem at once, each with its line and what to do.
//! - [`Catalogue::builtin`] is a real one: Shopify's 14,606 product categories, and own branches for transport, real estate, jobs and
//!   services, in English and Russian.
//! - [`Catalogue::validate`] says everything that is wrong with an offer, each with its field's path, a machine code and the limits.
//! - [`Catalogue::find_category`], [`Category::find_attribute`], [`Category::read_pairs`] and [`Use::read`] recognise what people and feeds write.
//! - A [`Migration`] moves offers from one version of a catalogue to the next, and says what could not be moved.
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
//! What is promised:
//! - A catalogue never changes after it was loaded; it can be shared between threads.
//! - What holds in a category holds in all below it: a child adds and narrows, it never widens.
//! - Validation of a sound offer with at most sixteen choices allocates nothing.
//!
//! Where things are: `read/` brings files into `declared.rs`, `build/` makes the [`Catalogue`] (`catalogue.rs`, views in `attribute.rs`) of
//! that; `validate/`, `find/`, `recognise.rs` and `migrate/` use it. Every limit is in [`limits`]; the built-in files are in `data/`, and
//! `docs/catalog.md` describes their format.

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
mod text;
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
