//! What can go wrong.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the watcher itself. What a stage says is a [`StageError`](crate::StageError). Whoever serves an API can tell by the variant
/// who has to do something: the caller ([`NotFound`](Self::NotFound), [`Conflict`](Self::Conflict), [`Invalid`](Self::Invalid),
/// [`Refused`](Self::Refused)), whoever configures ([`Setup`](Self::Setup)), or whoever operates (the others).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The topic refused or failed.
    #[error(transparent)]
    Topics(#[from] std::sync::Arc<topics::Error>),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// The watcher was set up in a way that cannot work. Given by [`Watcher::open`](crate::Watcher::open), and by [`Watcher::run`](crate::Watcher::run)
    /// for the name of the process.
    #[error("{what}")]
    Setup {
        /// What is wrong and what to do.
        what: String,
    },
    /// There is no such thing. Given by every call that names a stage, for one that is not declared, and by
    /// [`Watcher::set_state`](crate::Watcher::set_state) for an entity that does not exist.
    #[error("{what}")]
    NotFound {
        /// What there is not, and what there is.
        what: String,
    },
    /// It cannot be done as things are now; it may be at another time. Given by [`Watcher::start_recrawl`](crate::Watcher::start_recrawl) while
    /// a re-crawl is under way, and by the other orders for a re-crawl while none is.
    #[error("{what}")]
    Conflict {
        /// What stands in the way and what to do.
        what: String,
    },
    /// What was ordered can never be done. Given by [`Watcher::set_limits`](crate::Watcher::set_limits) and [`Watcher::pause_stage`](crate::Watcher::pause_stage),
    /// and for the speed of a re-crawl.
    #[error("{what}")]
    Invalid {
        /// What is wrong and what to do.
        what: String,
    },
    /// An entity or a state that cannot be kept. Given by [`Watcher::save`](crate::Watcher::save) and [`Watcher::set_state`](crate::Watcher::set_state).
    #[error("{kind} {id}: {what}")]
    Refused {
        /// The entity's kind.
        kind: &'static str,
        /// The entity's id.
        id: String,
        /// What is wrong and what to do.
        what: String,
    },
}
