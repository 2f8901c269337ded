//! Bugs that simulations plant, to see that they would be noticed. They exist only with the feature `simulation`.

use std::cell::Cell;

macro_rules! bugs {
    ($($(#[$doc:meta])+ $bug:ident,)+) => {
        /// A bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $($(#[$doc])+ $bug,)+ }

        impl Bug {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$bug,)+];
        }
    };
}

bugs! {
    /// An owner's batch does not check the epoch of its shard.
    NoFence,
    /// A shard changes hands without a new epoch.
    SameEpoch,
    /// A process is taken to be dead as soon as somebody looks twice.
    EagerBurial,
    /// A process that ends keeps its shards.
    NoHandOver,
    /// A shard is given away during visits in it.
    BusyGivenAway,
    /// A change by a stage is not seen by the others.
    Overlooked,
    /// The entries of an entity stay when it is removed.
    Leftovers,
    /// An entry leaves its queue, its queue row stays.
    QueueRowStays,
    /// A change does not get into the outbox.
    NoOutbox,
    /// An entity's version grows by two.
    VersionJump,
    /// An answer is saved although somebody asked for another visit meanwhile.
    NoEntryCheck,
    /// An answer is saved on whatever has become of the entity.
    AlwaysFits,
    /// An answer takes the place of a state that was set meanwhile.
    NoStateCheck,
    /// A state is written under the name of another stage.
    ForeignState,
    /// A visit is made before its time.
    EarlyVisit,
    /// The visit that a stage asked for is not queued.
    LostTimer,
    /// Nobody looks into the queues unless there is a hint.
    NoLook,
    /// Two visits of one entity at a time.
    BusyIgnored,
    /// An entry is parked without a reason.
    SilentParking,
    /// Changes leave for the topic newest first.
    NewestFirst,
    /// A change that was written late does not hold up the ones that follow it.
    LeftBehind,
    /// A change counts as exported although the topic has refused it.
    ExportUnconfirmed,
    /// Nobody looks into the outbox unless there is a hint.
    RelayNeverLooks,
    /// A stage that failed to hear of its change is not told again.
    Untold,
    /// A stage that is paused is visited all the same.
    PauseIgnored,
    /// What was ordered for stages is read at the start and after hints only.
    OrdersUnread,
    /// A re-crawl begins although another is under way.
    SecondCrawl,
    /// Every step of a re-crawl begins from the start.
    CrawlAnew,
    /// A re-crawl passes by the last entities of a shard.
    CrawlSkips,
    /// What stages want of an entity that changed while they were asked is forgotten.
    CrawlLoses,
    /// What stages want when a re-crawl asks them is not queued.
    CrawlForgets,
    /// After an error a process does not crawl any more.
    CrawlGivesUp,
    /// A visit of the background takes the place of whatever an entity waits for.
    BackgroundFirst,
    /// An entity that does not exist cannot be explained.
    Unexplained,
    /// The store forgets that it has applied a commit. It is the simulator's engine that has this bug.
    ForgottenCommit,
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

/// Plants a bug into everything that runs on this thread from now on, or mends it.
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

thread_local! {
    static IN_ONE_TASK: Cell<bool> = const { Cell::new(false) };
}

/// Has everything of a watcher that runs on this thread from now on share one task, so that it goes the same way every time.
pub fn share_one_task() {
    IN_ONE_TASK.set(true);
}

/// Whether a watcher shares one task here.
#[must_use]
pub fn is_in_one_task() -> bool {
    IN_ONE_TASK.get()
}

/// Whether this bug is planted here.
#[must_use]
pub fn is_planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}
