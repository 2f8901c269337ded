//! Bugs that tests plant to check that their invariants notice them. Production code never plants
//! one.

use crate::Planner;

macro_rules! bugs {
    ($($(#[$doc:meta])+ $bug:ident,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Bug { $($(#[$doc])+ $bug,)+ }

        #[cfg(test)]
        impl Bug {
            pub(crate) const ALL: &[Self] = &[$(Self::$bug,)+];
        }
    };
}

bugs! {
    /// A task is not evaluated after its run: changes in the meantime are lost.
    NotLookedAtAfterRun,
    /// The values at the end of a run are remembered, not those that its check saw.
    LatestRemembered,
    /// A failure is remembered like a success.
    FailureRemembered,
    /// A task leaves the queue without another check.
    NoRecheck,
    /// A slot is free as soon as a run has ended, before that is committed.
    PlaceFreeEarly,
    /// Others are held back for as long as the producing run takes.
    EndlessHold,
    /// No task is ever held back.
    NoHold,
    /// The newest goes first.
    NewestFirst,
    /// Priorities do not count.
    NoPriority,
    /// A refused decision is treated as committed.
    RefusedKept,
    /// The end of any run is taken for the end of the current one.
    AnyEnd,
    /// Timers never fire.
    NoWake,
    /// A task that waits after a failure is forgotten.
    NoRetry,
    /// A running task is checked and started again.
    CheckedWhileRunning,
    /// A paused task fires.
    PauseIgnored,
}

impl Planner {
    #[inline]
    pub(crate) fn has(&self, bug: Bug) -> bool {
        cfg!(test) && self.bug == Some(bug)
    }
}
