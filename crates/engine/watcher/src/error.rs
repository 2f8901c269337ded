//! The errors of the watcher.

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the watcher itself; a stage fails with a [`StageError`](crate::StageError). The
/// variant tells who must act: the caller ([`NotFound`](Self::NotFound),
/// [`Conflict`](Self::Conflict), [`Invalid`](Self::Invalid), [`Refused`](Self::Refused)), the
/// author of the configuration ([`Setup`](Self::Setup)), or the operator (the others).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Topics(#[from] std::sync::Arc<topics::Error>),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged { place: String, detail: String },
    /// The watcher cannot work as it was set up. Returned by
    /// [`Watcher::open`](crate::Watcher::open), and by [`Watcher::run`](crate::Watcher::run) for
    /// the name of the process.
    #[error("{what}")]
    Setup {
        /// What is wrong and what to do.
        what: String,
    },
    /// There is no such thing. Returned by every call that names an unknown stage, and by
    /// [`Watcher::set_state`](crate::Watcher::set_state) for an entity that does not exist.
    #[error("{what}")]
    NotFound { what: String },
    /// Not possible at the moment. Returned by
    /// [`Watcher::start_recrawl`](crate::Watcher::start_recrawl) while a re-crawl is under way, and
    /// by the other re-crawl calls while none is.
    #[error("{what}")]
    Conflict { what: String },
    /// Never possible. Returned by [`Watcher::set_limits`](crate::Watcher::set_limits),
    /// [`Watcher::pause_stage`](crate::Watcher::pause_stage), and for the speed of a re-crawl.
    #[error("{what}")]
    Invalid { what: String },
    /// An entity or a state that cannot be stored. Returned by
    /// [`Watcher::save`](crate::Watcher::save) and
    /// [`Watcher::set_state`](crate::Watcher::set_state).
    #[error("{kind} {id}: {what}")]
    Refused { kind: &'static str, id: String, what: String },
}
