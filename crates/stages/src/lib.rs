//! The stages of offers that Torg brings along.
//!
//! - [`Expiry`]: an offer expires when it was shown long enough.

mod expiry;

pub use expiry::Expiry;
