//! Downloads photos from untrusted URLs, makes them in several sizes and stores the files.
//!
//! [`Photos::take`] downloads a photo, measures it, makes the configured sizes without metadata,
//! and stores the files under the hash of the downloaded bytes. Guarantees:
//! - A URL is downloaded once, and equal bytes are stored once.
//! - Files are stored before the rows that name them. After a crash in between, the next attempt
//!   writes the same files again.
//! - A failed URL has a row with the reason, the attempts and the time of the next one; it is not
//!   requested before.
//! - Memory is bounded: the number and size of downloads are limited, and memory for a picture is
//!   reserved by its header before it is decoded.
//! - A file name always means the same bytes: files can be cached for ever.
//!
//! Where things are: rows of photos and failures ([`Photo`], [`UrlError`], `tables.rs`), decoding
//! (`decode/`), sizes (`make.rs`, `encode/`), measures (`judge.rs`), the order of photos
//! ([`PhotoOrder`]), serving (`serve.rs`), a check for missing files ([`survey`](survey())), the
//! object store ([`files`]).

mod config;
mod decode;
mod encode;
mod error;
pub mod files;
mod judge;
mod keyed_semaphore;
pub mod limits;
mod make;
mod order;
mod photos;
mod pool;
mod record;
mod remember;
mod serve;
mod survey;
mod tables;

pub use config::Config;
pub use error::{PhotoError, Refusal, Result};
pub use make::{Made, MadeSize};
pub use order::{BestFirst, PhotoOrder};
pub use photos::Photos;
pub use pool::ImagePool;
pub use record::{Photo, Size, UrlError};
pub use serve::{NotServed, Served, etag, is_photo_path};
pub use survey::{Surveyed, place, survey};
pub use tables::tables;
