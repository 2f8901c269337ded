//! Stages for Torg in Rust: your own code that visits offers when they change or at a time it
//! chooses.
//!
//! Implement [`Stage`] and pass it to [`serve`]; `torg stages register` registers it. [`testing`]
//! visits offers without a Torg. `docs/stages-sdk.md` describes the same for Python.
//!
//! ```no_run
//! use stagekit::{Answer, Description, Failure, Offer, Options, Stage, Subject};
//!
//! struct Shouting;
//!
//! #[stagekit::async_trait]
//! impl Stage for Shouting {
//!     fn describe(&self) -> Description {
//!         Description::new("shouting", "0.1.0").interest(["title"]).sets(["title"])
//!     }
//!
//!     async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
//!         let title = subject.offer.title.to_lowercase();
//!         Ok(Answer::patch(["title"], Offer { title, ..Offer::default() }))
//!     }
//! }
//!
//! # async fn run() -> Result<(), stagekit::Error> {
//! stagekit::serve(Shouting, Options::default()).await
//! # }
//! ```
//!
//! Guarantees: a failure or panic for one offer affects only that offer. If a token is set, every
//! caller must present it. On shutdown, running calls finish first.

mod answer;
mod error;
mod listen;
mod server;
mod service;
mod stage;
mod state;
#[cfg(feature = "templates")]
pub mod template;
pub mod testing;
mod token;

pub use ::wire_stages::torg::{offers::v1 as offers, stages::v1 as wire};
pub use answer::{Answer, Failure, Schedule};
pub use async_trait::async_trait;
pub use error::Error;
pub use jiff::Timestamp;
pub use offers::Offer;
pub use server::{Options, Server, Tls, serve, serve_all};
pub use stage::{Description, Saved, Stage, Subject};
