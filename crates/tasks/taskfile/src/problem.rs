//! What is wrong with files, where, and how to mend it.

use crate::place::Position;
use std::fmt;

/// What follows from a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No task of any file is taken.
    Error,
    /// The tasks are taken; somebody should look at it.
    Warning,
}

impl Severity {
    /// As it is printed.
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
            /// All of them.
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
    /// The text is no YAML.
    Syntax = "syntax",
    /// A tab stands in the indentation.
    Tab = "tab",
    /// A file, a text or a list is larger than is allowed.
    TooLarge = "too_large",
    /// A part of YAML that task files do not use: anchors, tags, several documents, keys that are no text.
    NotUsed = "not_used",
    /// A key stands twice in one mapping.
    DuplicateKey = "duplicate_key",
    /// A key that nobody knows.
    UnknownKey = "unknown_key",
    /// A key that must be there is not.
    MissingKey = "missing_key",
    /// Keys that exclude each other.
    Conflict = "conflict",
    /// A list where a text is expected, and the like.
    WrongType = "wrong_type",
    /// No number, or one outside of its range.
    BadNumber = "bad_number",
    /// No duration, or one outside of its range.
    BadDuration = "bad_duration",
    /// No size of a chunk.
    BadChunk = "bad_chunk",
    /// No time zone or day of the week.
    BadCalendar = "bad_calendar",
    /// No name of a task, a pool, a shorthand, a variable or a header.
    BadName = "bad_name",
    /// No name of a parameter.
    BadParameter = "bad_parameter",
    /// A condition that nobody knows.
    UnknownCondition = "unknown_condition",
    /// Two conditions in one mapping.
    SeveralConditions = "several_conditions",
    /// `all` or `any` of nothing.
    EmptyGroup = "empty_group",
    /// `all` and `any` inside of each other more than once.
    TooDeep = "too_deep",
    /// No URL that can be called.
    BadUrl = "bad_url",
    /// A pool that `limits.pools` does not have.
    UnknownPool = "unknown_pool",
    /// A task, a shorthand or a setting that is already there, perhaps in another file.
    Duplicate = "duplicate",
    /// A shorthand is used without what it needs, or with what it does not know.
    BadArguments = "bad_arguments",
    /// A shorthand uses itself, by way of others perhaps.
    Recursion = "recursion",
    /// A task sets a parameter in a way that cannot work.
    BadSet = "bad_set",
    /// A text with `$` in it that names no variable.
    BadVariable = "bad_variable",

    /// The trigger may never hold, and nobody would notice.
    MayNeverFire = "may_never_fire",
    /// The task may run again as soon as it has run.
    WouldLoop = "would_loop",
    /// The task waits on what it sets itself.
    WaitsForItself = "waits_for_itself",
    /// Tasks wait on each other in a circle.
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

/// A piece of a file that is shown with a problem.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The line, cut around the place; tabs and control characters are shown as spaces.
    pub text: String,
    /// How many characters stand before the place.
    pub caret: usize,
    /// How many characters are meant.
    pub width: usize,
}

/// Another place that has to do with a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The file.
    pub file: String,
    /// Where in it.
    pub at: Position,
    /// What it has to do with it.
    pub message: String,
    /// The line.
    pub excerpt: Excerpt,
}

/// Something wrong with the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What follows from it.
    pub severity: Severity,
    /// Which kind it is.
    pub code: Code,
    /// The file.
    pub file: String,
    /// Where in it.
    pub at: Position,
    /// One sentence about this very place.
    pub message: String,
    /// What to do about it; empty if the message says it all.
    pub remedy: String,
    /// The line.
    pub excerpt: Excerpt,
    /// Other places that have to do with it.
    pub related: Vec<Related>,
}

/// Everything that is wrong with the files: none of their tasks is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// By file, line and column; the first [`ERRORS_MAX`](crate::limits::ERRORS_MAX).
    pub errors: Vec<Problem>,
    /// How many there are beyond these.
    pub more: usize,
}

impl std::error::Error for Errors {}

impl fmt::Display for Errors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&crate::render(&self.errors, self.more, 0))
    }
}
