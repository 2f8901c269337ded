//! Autoload: the offers of a feed's file arrive in a topic, batch by batch, and then the end of the load. What is promised:
//!
//! - A batch is applied in one commit, with the consumer's place in the topic and with the answer: once, whatever crashes, and however often it is sent.
//! - Offers are matched by their external id among those that are not removed, banned ones included. A ban stays. Those without a match are published.
//! - An offer that says what it said before gets no new version, and nobody hears of it. Whoever reads the feed can ask which ones these are, and need not send them whole.
//! - A load is left alone once a later one of the same feed has begun. Feeds of one seller never see each other's offers.
//! - When a load has ended and its file was whole, offers that it did not have are removed or made manual, in portions that can be broken off and taken up by
//!   any process. If they are too many by the load's guard, nothing is touched until somebody confirms.
//! - An offer that is wrong, or that could not be judged, leaves what there is as it is.
//! - What goes wrong with an offer of a feed later (a ban, a photo that cannot be had) is noted by its external id in the commit in which it happens (`troubles.rs`).
//!
//! ```text
//! feed.offers ──► follow.rs ──► batch.rs (what becomes of each offer: known.rs, decide.rs)
//!                          └──► sweep.rs (what the load does not have any more)
//! feed.results ◄── answers.rs ◄── rows that were committed with what they tell of
//! ```

mod answers;
mod batch;
mod decide;
mod follow;
mod known;
mod notes;
mod progress;
mod sweep;
pub(crate) mod troubles;

use wire::torg::offers::v1::{Author, author};

pub use follow::GROUP;
pub use progress::FeedName;
pub use sweep::Beginning;
pub use troubles::Troubled;

use crate::call::Call;
use crate::status::Mover;

/// The topics of loads.
#[derive(Clone, Debug)]
pub struct LoadTopics {
    /// Where loads come from: `LoadMessage`.
    pub offers: String,
    /// Where answers go: `ResultMessage`.
    pub results: String,
    /// Where messages go that cannot be read.
    pub dead_letters: String,
}

/// A change by a load of a feed.
pub(crate) fn by_feed(namespace: &str, load: u64) -> Call {
    let name = format!("{namespace} {load}");
    let author = Author { kind: author::Kind::KIND_FEED.into(), name, ..Author::default() };
    Call::by(author, Mover::Feed)
}
