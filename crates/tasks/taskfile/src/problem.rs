//! Problems in files: what, where, and how to fix them.

use crate::location::Position;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No task of any file is accepted.
    Error,
    /// The tasks are accepted.
    Warning,
}

impl Severity {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[doc = $about:literal])* $code:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $about])* $code,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// Its name in reports; it never changes.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }
        }
    };
}

codes! {
    Syntax = "syntax",
    Tab = "tab",
    TooLarge = "too_large",
    /// YAML that task files do not use: anchors, tags, several documents, keys that are not text.
    NotUsed = "not_used",
    DuplicateKey = "duplicate_key",
    UnknownKey = "unknown_key",
    MissingKey = "missing_key",
    Conflict = "conflict",
    /// A list where a text is expected, and the like.
    WrongType = "wrong_type",
    BadNumber = "bad_number",
    BadDuration = "bad_duration",
    BadChunk = "bad_chunk",
    BadCalendar = "bad_calendar",
    /// Not a name of a task, a pool, a shorthand, a variable or a header.
    BadName = "bad_name",
    BadParameter = "bad_parameter",
    UnknownCondition = "unknown_condition",
    SeveralConditions = "several_conditions",
    EmptyGroup = "empty_group",
    /// `all` and `any` nested more than once.
    TooDeep = "too_deep",
    BadUrl = "bad_url",
    /// A pool that is not in `limits.pools`.
    UnknownPool = "unknown_pool",
    /// A task, a shorthand or a setting that already exists, perhaps in another file.
    Duplicate = "duplicate",
    BadArguments = "bad_arguments",
    Recursion = "recursion",
    /// A task sets a parameter in a way that cannot work.
    BadSet = "bad_set",
    BadVariable = "bad_variable",

    /// The trigger may never hold, and no `max_silence` would report it.
    MayNeverFire = "may_never_fire",
    /// The task may run again as soon as it has run.
    WouldLoop = "would_loop",
    /// The task waits on what it sets itself.
    WaitsForItself = "waits_for_itself",
    Cycle = "cycle",
    IdleHoldBack = "idle_hold_back",
    UnlimitedPool = "unlimited_pool",
    /// A secret seems to be written into the file.
    WrittenSecret = "written_secret",
    MixedKinds = "mixed_kinds",
    UnusedParameter = "unused_parameter",
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The line, truncated around the location; control characters are shown as spaces.
    pub text: String,
    pub caret: usize,
    pub width: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub file: String,
    pub at: Position,
    pub message: String,
    pub excerpt: Excerpt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub code: Code,
    pub file: String,
    pub at: Position,
    pub message: String,
    /// What to do about it; empty if the message says it.
    pub remedy: String,
    pub excerpt: Excerpt,
    pub related: Vec<Related>,
}

/// Everything that is wrong with the files: none of their tasks is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// By file, line and column; the first [`ERRORS_MAX`](crate::limits::ERRORS_MAX).
    pub errors: Vec<Problem>,
    /// Errors beyond these.
    pub more: usize,
}

impl std::error::Error for Errors {}

impl fmt::Display for Errors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&crate::render(&self.errors, self.more, 0))
    }
}
