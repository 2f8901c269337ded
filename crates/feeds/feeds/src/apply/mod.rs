//! Applies loads to the ad store: reads their batches from a topic, changes offers, and sends
//! results to another topic.
//!
//! - A batch is applied once, in one commit with the consumer's position and the result, whatever
//!   crashes and however often it is sent. A batch too large for one commit is applied in portions;
//!   the row of the feed says how far it is.
//! - Offers are matched by external id, banned ones included. A ban stays. Offers without a match
//!   are published.
//! - An offer that is the same as before gets no new version.
//! - A load is ignored once a later one of its feed has begun. Feeds of one seller never touch each
//!   other's offers.
//! - When a load of a whole file ends, offers that it does not have are removed or made manual, in
//!   portions that any process can continue. If they are more than the load's guard allows, nothing
//!   happens until somebody confirms the load.
//! - An offer that is invalid, or that could not be compared, stays as it was.
//!
//! ```text
//! feed.offers ──► follow.rs ──► batch.rs (decides for each offer: seen.rs, decide.rs)
//!                          └──► sweep.rs (offers that the load does not have)
//! feed.results ◄── outbox.rs ◄── result rows, committed with the changes that they describe
//! ```

mod batch;
mod decide;
mod follow;
mod notes;
mod outbox;
mod progress;
mod seen;
mod sweep;

use offers::Call;
use offers::status::Mover;
use wire::torg::offers::v1::{Author, author};

pub use follow::GROUP;
pub use progress::Begun;

/// The author of changes by a load.
fn author(namespace: &str, load: u64) -> Call {
    let name = format!("{namespace} {load}");
    Call::by(Author { kind: author::Kind::KIND_FEED.into(), name, ..Author::default() }, Mover::Feed)
}
