//! Sellers' files: from the bytes of a feed to typed offers, with everything that is wrong with them. No store, no network, no clock.
//!
//! - [`Reader::open`] unpacks (gzip, zip), tells encoding and format from the bytes, and [`Reader::read`] hands out [`Batch`]es of
//!   [`Item`]s in the order of the file: a [`FeedOffer`], or none if it is rejected, and its [`Problem`]s.
//! - [`check`] reads a whole file and gives a [`Report`] that prints itself as a good compiler would, or as JSON.
//! - [`Code`] is the one table of problems, with meaning and remedy in English and Russian; [`errors_page`] is the page made of it.
//! - [`XSD`] is the published schema of Torg's own XML.
//!
//! What is promised:
//! - Memory stays bounded whatever the size of the file and whatever is in it ([`limits`]); nothing is fetched, no entity is expanded.
//! - A broken offer costs one offer. A file that cannot be read further ends as [`Outcome::Broken`] with line and column: what
//!   stands before holds, and the caller must not take the rest as removed.
//! - What can be saved without guessing at its meaning is read with a warning: a bare `&`, white space before the declaration, HTML
//!   that is not closed, another encoding than the one that is named.
//! - Lines and columns are counted in characters of the file as its author sees it.
//! - The same file gives the same batches, however many threads there are.
//!
//! Where things are: `input/` goes from bytes to a window of text; `sniff.rs` tells the format; `xml/`, `json/` and `delimited.rs` cut
//! the text into offers on one thread; `formats/`, one file each, read them on all cores through `draft.rs`, which checks every value;
//! `reader.rs` wires the threads; `report/` is for people; `generate.rs` makes large files for benchmarks.
//!
//! ```
//! let file = "id\ttitle\tprice\tlink\n1\tRed bicycle\t120.00 EUR\thttps://example.com/1\n";
//! let report = feedfile::check(file.as_bytes(), feedfile::Options::default(), &mut ());
//! assert_eq!(report.summary.format, Some(feedfile::Format::GoogleTsv));
//! assert_eq!(report.summary.accepted, 1);
//! ```

mod codes;
mod delimited;
mod draft;
mod entities;
mod formats;
pub mod generate;
mod header;
mod ids;
mod input;
mod json;
pub mod limits;
mod messages;
mod model;
mod money;
mod position;
mod problem;
mod reader;
mod report;
mod schema;
mod sniff;
mod split;
mod summary;
mod words;
mod xml;

pub use codes::{Area, Code, Language, Texts, page as errors_page};
pub use formats::Format;
pub use header::{CategoryPath, Header, HeaderCategory, HeaderCurrency};
pub use input::Packing;
pub use messages::translate;
pub use model::{
    Availability, CategoryKind, Condition, Contacts, Coordinates, FeedCategory, FeedOffer, Money, Param,
    Price,
};
pub use position::{At, Position};
pub use problem::{Excerpt, Problem, Severity};
pub use reader::{Batch, Item, Options, Reader};
pub use report::{Example, Group, Judge, Progress, Report, check, check_with};
pub use schema::XSD;
pub use summary::{Outcome, Summary};
