//! The hunt for planted bugs: every one must be caught by the invariant that it breaks.

use watcher::planted::Bug;

use crate::operator::ANSWERED;
use crate::run::{Options, simulate};

/// The invariant that must catch a bug. Others may catch it too.
#[must_use]
pub fn breaks(bug: Bug) -> &'static str {
    match bug {
        Bug::NoFence => "an owner's batch checks its epoch",
        Bug::SameEpoch => "no write by an old epoch",
        Bug::EagerBurial => "shards are taken from the dead only",
        Bug::QueueRowStays => "one queue row for each entry that waits",
        Bug::NoOutbox => "every change is in the outbox",
        Bug::VersionJump => "a version is the one before plus one",
        Bug::NoEntryCheck => "a touch during a visit is not lost",
        Bug::AlwaysFits | Bug::NoStateCheck => "an answer is saved on what the stage saw",
        Bug::ForeignState => "a stage writes only its own state",
        Bug::EarlyVisit => "no visit before its time",
        Bug::LostTimer => "every timer fires",
        Bug::Overlooked => "entities are as their stages want them",
        Bug::NoHandOver => "who ends in order leaves its shards",
        Bug::Leftovers => "nothing is left of a removed entity",
        Bug::NoLook => "nothing due is left",
        Bug::BusyIgnored | Bug::BusyGivenAway => "one stage at a time",
        Bug::SilentParking => "what is parked has a reason",
        Bug::NewestFirst | Bug::LeftBehind | Bug::ExportUnconfirmed => {
            "exports come in order and without gaps"
        }
        Bug::RelayNeverLooks => "the outbox is emptied",
        Bug::Untold => "a stage hears of its changes in order",
        Bug::PauseIgnored | Bug::OrdersUnread => "a stage that is paused is not visited",
        Bug::SecondCrawl => "one re-crawl at a time",
        Bug::CrawlAnew | Bug::CrawlGivesUp => "a re-crawl goes forward to its end",
        Bug::CrawlSkips | Bug::CrawlLoses | Bug::CrawlForgets => "a re-crawl asks about every entity",
        Bug::BackgroundFirst => "the background replaces no sooner visit",
        Bug::Unexplained => ANSWERED,
        Bug::ForgottenCommit => "an operation is applied once at most",
    }
}

#[must_use]
pub fn bug_named(name: &str) -> Option<Bug> {
    Bug::ALL.iter().copied().find(|bug| format!("{bug:?}").eq_ignore_ascii_case(name))
}

#[derive(Clone, Debug)]
pub struct Hunted {
    pub bug: Bug,
    /// The seed at which the expected invariant caught it.
    pub seed: Option<u64>,
    /// Seeds that were tried.
    pub tried: u64,
    /// Other invariants that noticed it, at that seed or before.
    pub also: Vec<&'static str>,
}

/// Plants a bug and tries at most `seeds` seeds until the expected invariant catches it.
#[must_use]
pub fn hunt(bug: Bug, first: u64, seeds: u64, seconds: Option<u64>) -> Hunted {
    let wanted = breaks(bug);
    let mut also = Vec::new();
    for seed in first..first + seeds {
        let options = Options { seed, seconds, bug: Some(bug), keep_trace: false, looking_for: Some(wanted) };
        let seen: Vec<&'static str> = simulate(&options).violations.iter().map(|v| v.invariant).collect();
        also.extend(seen.iter().filter(|invariant| **invariant != wanted));
        also.sort_unstable();
        also.dedup();
        if seen.contains(&wanted) {
            return Hunted { bug, seed: Some(seed), tried: seed - first + 1, also };
        }
    }
    Hunted { bug, seed: None, tried: seeds, also }
}
