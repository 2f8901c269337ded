//! Downloads from the public internet by untrusted URLs: photos, feeds, videos.
//!
//! An untrusted URL may name a machine inside our own network, answer without end, or send ten
//! megabytes that decompress to ten gigabytes. Guarantees for every URL and every answer:
//! - Connections go to public addresses only. A name is resolved once for each connection, every
//!   address is checked, and the connection goes to a checked address: there is no second
//!   resolution that could differ.
//! - Each redirect is a new URL and passes the same checks. Credentials are sent to the origin that
//!   they were given for only.
//! - Bytes, decompressed bytes, their ratio, the headers, the transfer rate, and the time to
//!   connect, to the first byte, and in total are limited.
//! - The body is streamed: memory does not grow with it.
//! - Each error has a name ([`Cause`]), says where it happened and what to do, and whether a retry
//!   may succeed.
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch::Error> {
//! use fetch::{Client, Fetched, Kind, Request, Rules};
//!
//! let client = Client::new(Rules::default());
//! let request = Request::get("https://example.com/photo.jpg").accept(&[Kind::Jpeg, Kind::Png]);
//! if let Fetched::Found(mut download) = client.send(&request).await? {
//!     while let Some(piece) = download.body.chunk().await? {
//!         println!("{} bytes", piece.len());
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Where things are: public addresses (`address.rs`), URLs (`target.rs`), the rules ([`Rules`]) and
//! limits ([`Limits`], [`limits`]), connections (`connect.rs`, [`Network`]), redirects
//! (`client.rs`), bodies (`body.rs`, `unpack.rs`), content types ([`sniff`]), errors ([`Error`]).

mod address;
mod body;
mod client;
mod connect;
mod error;
mod exchange;
pub mod limits;
mod network;
mod request;
mod rules;
mod sniff;
mod target;
mod unpack;

pub use address::forbidden;
pub use body::Body;
pub use client::{Client, Download, Fetched};
pub use error::{Cause, Error, Result};
pub use network::{Internet, Network, Pipe};
pub use request::{BasicAuth, Request, Validators};
pub use rules::{Limits, Proxy, Rules};
pub use sniff::{Kind, sniff};
