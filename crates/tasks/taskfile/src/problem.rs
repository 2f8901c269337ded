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
        /// Which kind of problem it is.
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
    /// The text is not YAML.
    Syntax = "syntax",
    /// A tab in the indentation.
    Tab = "tab",
    /// A file, a text or a list is larger than is allowed.
    TooLarge = "too_large",
    /// YAML that task files do not use: anchors, tags, several documents, keys that are not text.
    NotUsed = "not_used",
    /// A key occurs twice in one mapping.
    DuplicateKey = "duplicate_key",
    /// An unknown key.
    UnknownKey = "unknown_key",
    /// A required key is missing.
    MissingKey = "missing_key",
    /// Keys that exclude each other.
    Conflict = "conflict",
    /// A list where a text is expected, and the like.
    WrongType = "wrong_type",
    /// Not a number, or out of range.
    BadNumber = "bad_number",
    /// Not a duration, or out of range.
    BadDuration = "bad_duration",
    /// Not a chunk size.
    BadChunk = "bad_chunk",
    /// Not a time zone or a weekday.
    BadCalendar = "bad_calendar",
    /// Not a name of a task, a pool, a shorthand, a variable or a header.
    BadName = "bad_name",
    /// Not the name of a parameter.
    BadParameter = "bad_parameter",
    /// An unknown condition.
    UnknownCondition = "unknown_condition",
    /// Two conditions in one mapping.
    SeveralConditions = "several_conditions",
    /// An empty `all` or `any`.
    EmptyGroup = "empty_group",
    /// `all` and `any` nested more than once.
    TooDeep = "too_deep",
    /// Not a URL that can be called.
    BadUrl = "bad_url",
    /// A pool that is not in `limits.pools`.
    UnknownPool = "unknown_pool",
    /// A task, a shorthand or a setting that already exists, perhaps in another file.
    Duplicate = "duplicate",
    /// A shorthand with missing or unknown arguments.
    BadArguments = "bad_arguments",
    /// A shorthand that uses itself, directly or through others.
    Recursion = "recursion",
    /// A task sets a parameter in a way that cannot work.
    BadSet = "bad_set",
    /// A `$` that names no variable.
    BadVariable = "bad_variable",

    /// The trigger may never hold, and no `max_silence` would report it.
    MayNeverFire = "may_never_fire",
    /// The task may run again as soon as it has run.
    WouldLoop = "would_loop",
    /// The task waits on what it sets itself.
    WaitsForItself = "waits_for_itself",
    /// Tasks wait on each other in a cycle.
    Cycle = "cycle",
    /// Nothing can be held back for the task.
    IdleHoldBack = "idle_hold_back",
    /// A pool has no limit.
    UnlimitedPool = "unlimited_pool",
    /// A secret seems to be written into the file.
    WrittenSecret = "written_secret",
    /// A parameter is used as a time and as a number.
    MixedKinds = "mixed_kinds",
    /// A parameter of a shorthand is not used in it.
    UnusedParameter = "unused_parameter",
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The line, truncated around the location; control characters are shown as spaces.
    pub text: String,
    pub caret: usize,
    pub width: usize,
}

/// Another location that belongs to a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub file: String,
    pub at: Position,
    pub message: String,
    pub excerpt: Excerpt,
}

/// Something wrong with the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub code: Code,
    pub file: String,
    pub at: Position,
    /// One sentence about this location.
    pub message: String,
    /// What to do about it; empty if the message says it.
    pub remedy: String,
    pub excerpt: Excerpt,
    /// Other locations that belong to it.
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
