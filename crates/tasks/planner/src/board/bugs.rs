//! Bugs that tests plant, to see that their invariants would notice them. Outside of tests none is ever planted.

use super::Board;

macro_rules! bugs {
    ($($(#[$doc:meta])+ $bug:ident,)+) => {
        /// A bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Bug { $($(#[$doc])+ $bug,)+ }

        #[cfg(test)]
        impl Bug {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$bug,)+];
        }
    };
}

bugs! {
    /// A task is not looked at after its run: what changed meanwhile is lost.
    NotLookedAtAfterRun,
    /// The values at the end of a run are remembered, not those that its check saw.
    LatestRemembered,
    /// A failure is remembered like a success.
    FailureRemembered,
    /// A task leaves the queue without another check.
    NoRecheck,
    /// A place is free as soon as a run has ended, before that is committed.
    PlaceFreeEarly,
    /// Others are held back for as long as the producing run takes.
    EndlessHold,
    /// Nobody is ever held back.
    NoHold,
    /// The newest goes first.
    NewestFirst,
    /// Priorities do not count.
    NoPriority,
    /// What was refused is taken for committed.
    RefusedKept,
    /// The end of any run is taken for that of the last one.
    AnyEnd,
    /// The time wakes nobody.
    NoWake,
    /// A task that waits after a failure is forgotten.
    NoRetry,
    /// A running task is checked and started again.
    CheckedWhileRunning,
    /// A paused task fires.
    PauseIgnored,
}

impl Board {
    /// Whether a bug is planted.
    #[inline]
    pub(super) fn has(&self, bug: Bug) -> bool {
        cfg!(test) && self.bug == Some(bug)
    }
}
