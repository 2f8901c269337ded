//! Bugs that simulations plant to prove that the invariants catch them. They exist only with the
//! feature `simulation`; those that show at the store are in the simulator's `damage.rs`.

use std::cell::Cell;

macro_rules! bugs {
    ($($(#[$doc:meta])+ $bug:ident,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $($(#[$doc])+ $bug,)+ }

        impl Bug {
            pub const ALL: &[Self] = &[$(Self::$bug,)+];
        }
    };
}

bugs! {
    /// An owner's batch does not check the epoch of its shard.
    NoFence,
    /// A shard changes hands without a new epoch.
    SameEpoch,
    /// A process counts as dead as soon as it is seen twice.
    EagerBurial,
    /// A process that ends keeps its shards.
    NoHandOver,
    /// A shard is given away during visits in it.
    BusyGivenAway,
    /// A change by a stage is not seen by the others.
    Overlooked,
    /// The entries of an entity stay when it is removed.
    Leftovers,
    /// An entry leaves its queue, but its queue row stays.
    QueueRowStays,
    /// A change is not written to the outbox.
    NoOutbox,
    /// An entity's version grows by two.
    VersionJump,
    /// An answer is saved although another visit was requested meanwhile.
    NoEntryCheck,
    /// An answer is saved whatever has become of the entity.
    AlwaysFits,
    /// An answer replaces a state that was set meanwhile.
    NoStateCheck,
    /// A state is written under the name of another stage.
    ForeignState,
    /// A visit is made before its time.
    EarlyVisit,
    /// The visit that a stage requested is not queued.
    LostTimer,
    /// Queues are scanned only after a hint.
    NoLook,
    /// Two visits of one entity at a time.
    BusyIgnored,
    /// An entry is parked without a reason.
    SilentParking,
    /// Changes are exported newest first.
    NewestFirst,
    /// A change that was written late does not delay the ones that follow it.
    LeftBehind,
    /// A change counts as exported although the topic refused it.
    ExportUnconfirmed,
    /// The outbox is scanned only after a hint.
    RelayNeverLooks,
    /// A failed `on_saved` is not repeated.
    Untold,
    /// A paused stage is visited.
    PauseIgnored,
    /// Orders are read at the start and after hints only.
    OrdersUnread,
    /// A re-crawl begins although another is under way.
    SecondCrawl,
    /// Every step of a re-crawl begins from the start.
    CrawlAnew,
    /// A re-crawl skips the last entities of a shard.
    CrawlSkips,
    /// The requests of stages for an entity that changed while they were asked are lost.
    CrawlLoses,
    /// The requests of stages in a re-crawl are not queued.
    CrawlForgets,
    /// A process stops crawling after an error.
    CrawlGivesUp,
    /// A background visit replaces whatever an entity waits for.
    BackgroundFirst,
    /// An entity that does not exist cannot be explained.
    Unexplained,
    /// The store forgets that it applied a commit. The simulator's engine has this bug.
    ForgottenCommit,
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

/// Plants a bug into everything that runs on this thread from now on, or removes it.
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

thread_local! {
    static IN_ONE_TASK: Cell<bool> = const { Cell::new(false) };
}

/// Makes everything of a watcher on this thread share one task, so that it is deterministic.
pub fn share_one_task() {
    IN_ONE_TASK.set(true);
}

#[must_use]
pub fn is_in_one_task() -> bool {
    IN_ONE_TASK.get()
}

#[must_use]
pub fn is_planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}
