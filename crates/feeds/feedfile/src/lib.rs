//! Reads sellers' feed files: from bytes in any supported format to typed offers and their
//! problems. No store, no network, no clock.
//!
//! - [`Reader::open`] unpacks (gzip, zip) and detects encoding and format; [`Reader::read`] returns
//!   [`Batch`]es of [`Item`]s in file order: a [`FeedOffer`], or none if it is rejected, and its
//!   [`Problem`]s.
//! - [`check`] reads a whole file into a [`Report`] that prints like a compiler's messages, or as
//!   JSON.
//! - [`Code`] is the table of problems, with meaning and remedy in English and Russian;
//!   [`errors_page`] is the page made from it.
//! - [`XSD`] is the published schema of Torg's own XML.
//!
//! Guarantees:
//! - Memory stays bounded whatever the size of the file and whatever is in it ([`limits`]); nothing
//!   is fetched, no entity is expanded.
//! - A broken offer rejects one offer. A file that cannot be read further ends as
//!   [`Outcome::Broken`] with line and column: the offers before it are valid, and the caller must
//!   not remove the others.
//! - Flaws that can be repaired without guessing are warnings: an unescaped `&`, white space before
//!   the declaration, unclosed HTML, an encoding other than the declared one.
//! - Lines and columns count characters of the file as its author sees it.
//! - The same file gives the same batches for any number of threads.
//!
//! Where things are: `input/` turns bytes into a window of text; `sniff.rs` detects the format;
//! `xml/`, `json/` and `delimited.rs` split the text into offers on one thread; `formats/`, one
//! file each, parses them on all cores through `draft.rs`, which checks every value; `reader.rs`
//! wires the threads; `report/` is for people; `generate.rs` makes large files for benchmarks.
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
