//! Places: from an address or from coordinates to the id of a city.
//!
//! - [`Places::builtin`] has 34,006 places of 15,000 people and more, from `GeoNames` (CC BY 4.0: say [`ATTRIBUTION`] wherever they are shown).
//! - [`Places::find`] reads an address in Russian, English or the language of the place; [`Places::locate`] and [`Places::nearest`] take
//!   coordinates.
//! - [`Geocoder`] is the same as a service that may fail: [`Builtin`] never does, [`Nominatim`] asks a server of that kind.
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
//! What is promised:
//! - Ids are those of `GeoNames`, as text, and stay the same when the data is renewed.
//! - Places never change after they were loaded; they can be shared between threads. A search looks at a bounded part of the text.
//! - A failure of a geocoder says whether it may pass by itself ([`Error::is_passing`]).
//!
//! Where things are: the data and its names (`places.rs`, `index.rs`), countries and regions (`regions.rs`), reading an address (`address.rs`,
//! `text.rs`), choosing between namesakes (`find.rs`), coordinates (`tree.rs`, `near.rs`), services (`geocoder.rs`, `nominatim/`). Every
//! limit is in [`limits`]; `docs/geo.md` explains the rest.

mod address;
mod error;
mod find;
mod geocoder;
mod index;
pub mod limits;
mod near;
mod nominatim;
mod places;
mod regions;
mod text;
mod tree;

pub use error::{Error, Result};
pub use find::{Candidate, Found, Hints};
pub use geocoder::{Builtin, Geocoder, Located};
pub use nominatim::{Nominatim, NominatimOptions};
pub use places::{ATTRIBUTION, Place, Places};
pub use tree::Point;
