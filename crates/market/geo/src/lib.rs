//! Finds the city of an address or of coordinates.
//!
//! - [`Places::builtin`] loads 34,006 places with at least 15,000 people from `GeoNames` (CC BY
//!   4.0: show [`ATTRIBUTION`]).
//! - [`Places::find`] reads an address in Russian, English or the local language;
//!   [`Places::locate`] and [`Places::nearest`] take coordinates.
//! - [`Geocoder`] is the same as a trait that remote services can implement; [`Builtin`] never
//!   fails.
//!
//! ```
//! use geo::{Hints, Places, Point};
//!
//! let places = Places::builtin()?;
//! let kazan = places.find("г. Казань, ул. Баумана, 1", Hints::default()).unwrap();
//! assert_eq!((kazan.best.place.name(), kazan.best.place.id().as_str()), ("Kazan", "551487"));
//! let (place, _) = places.locate(Point::new(52.52, 13.40).unwrap()).unwrap();
//! assert_eq!(place.name(), "Berlin");
//! # Ok::<(), geo::Error>(())
//! ```
//!
//! Guarantees:
//! - Ids are those of `GeoNames`, as text, and stay the same when the data is updated.
//! - Places are immutable and shared between threads. A search reads a bounded part of the text.
//! - An error of a geocoder tells whether a retry may help ([`Error::is_passing`]).
//!
//! Where things are: data and names (`places.rs`, `index.rs`), countries and regions
//! (`regions.rs`), parsing of addresses (`address.rs`, `text.rs`), ranking (`find.rs`), coordinates
//! (`tree.rs`). See `docs/geo.md`.

mod address;
mod error;
mod find;
mod geocoder;
mod index;
pub mod limits;
mod places;
mod regions;
mod text;
mod tree;

pub use error::{Error, Result};
pub use find::{Candidate, Found, Hints};
pub use geocoder::{Builtin, Geocoder, Located};
pub use places::{ATTRIBUTION, Place, Places};
pub use tree::Point;
