//! Downloads from the public internet by URLs that strangers wrote: photos, feeds, videos.
//!
//! A stranger's URL may name a machine inside our own network, answer for ever, or send ten megabytes that unpack to ten
//! gigabytes. What is promised, whatever the URL and whatever answers:
//! - A connection is made to public addresses only. A name is looked up once for each connection, every address of the answer
//!   is checked, and the connection goes to a checked address: there is no second look-up that could answer otherwise.
//! - Each redirect is a new URL and passes the same checks. Credentials go to the host that they were given for and to no other.
//! - Bytes, unpacked bytes, the ratio of both, the headers, and the time to connect, to the first byte, and in total are limited;
//!   so is how slowly bytes may drip.
//! - The body is handed on piece by piece: memory does not grow with it.
//! - Each refusal has a name ([`Why`]), says where it happened and what to do, and whether it may pass by itself.
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
//! Where things are: which addresses are public (`address.rs`), what a URL may be (`target.rs`), the rules ([`Rules`]) and limits
//! ([`Limits`], [`limits`]), how connections are made (`connect.rs`, [`Network`]), redirects (`client.rs`), bodies (`body.rs`,
//! `unpack.rs`), what bytes are ([`sniff`]), errors ([`Error`]).

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
pub use error::{Error, Result, Why};
pub use network::{Internet, Network, Pipe};
pub use request::{BasicAuth, Request, Validators};
pub use rules::{Limits, Proxy, Rules};
pub use sniff::{Kind, sniff};
