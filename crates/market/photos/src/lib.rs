//! Photos: from a stranger's URL to files that can be shown.
//!
//! [`Photos::take`] downloads a photo, judges it, makes it in the configured sizes without its metadata, and keeps the files under the hash of
//! the photo's own bytes. What is promised:
//! - A URL that was taken is not fetched again, and bytes that were taken are not stored again, whatever URL they come from.
//! - Files are stored before the rows that name them: a row never names a file that is not there. A crash in between leaves files
//!   that the next try writes again, the same.
//! - A URL that failed has a row that says why, how often, and when it is tried again; nothing else is asked of that URL before then.
//! - Memory is bounded, whatever comes: so many downloads at once of so many bytes, and so many bytes for pictures being worked on,
//!   which are reserved by what a picture's head says before anything is decoded.
//! - Names of files are never used for other bytes: they can be cached for ever.
//!
//! Where things are: taking ([`Photos`]), what is known of a photo ([`Photo`]) and of a failure ([`UrlError`]), tables (`tables.rs`), decoding
//! (`decode/`), sizes (`make.rs`), what is judged (`judge.rs`), the order of photos ([`PhotoOrder`]), serving (`serve.rs`), whether files are there
//! ([`survey`](survey())), where they are kept
//! ([`files`]), every limit ([`limits`]).

mod config;
mod decode;
mod encode;
mod error;
pub mod files;
mod hosts;
mod judge;
pub mod limits;
mod make;
mod order;
mod photos;
mod record;
mod remember;
mod serve;
mod single;
mod survey;
mod tables;
mod workshop;

pub use config::Config;
pub use error::{PhotoError, Refusal, Result};
pub use make::{Made, MadeSize};
pub use order::{BestFirst, PhotoOrder};
pub use photos::Photos;
pub use record::{Photo, Size, UrlError};
pub use serve::{NotServed, Served, etag, is_photo_path};
pub use survey::{Surveyed, place, survey};
pub use tables::tables;
pub use workshop::Workshop;
