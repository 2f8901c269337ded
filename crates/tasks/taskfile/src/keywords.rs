//! Every keyword of the language, for the parser, suggestions and the schema.

use triggers::Scale;

pub(crate) type Key = (&'static str, &'static str);

pub(crate) const FILE: &[Key] = &[
    (
        "timezone",
        "The time zone in which hours, days, weeks, months and years are counted, such as Europe/Moscow. By default UTC. Once in all files.",
    ),
    ("week_start", "The day that weeks begin with. By default monday. Once in all files."),
    (
        "day_offset",
        "How long after midnight a day begins: with 6h at 06:00. By default 0h. Once in all files.",
    ),
    ("limits", "How much runs at the same time. Once in all files."),
    ("defaults", "What holds for every task of this file that does not say otherwise."),
    ("shorthands", "Conditions with a name of your own, for all files."),
    ("tasks", "The tasks, by name."),
];

pub(crate) const LIMITS: &[Key] = &[
    ("running", "How many runs there may be at the same time."),
    ("pools", "How many runs there may be at the same time in each pool."),
];

pub(crate) const SHORTHAND: &[Key] = &[
    ("about", "What it is for."),
    (
        "parameters",
        "What has to be given where it is used: a name, or `name: default`. In `when` it is written $name.",
    ),
    ("when", "The condition that it abbreviates."),
];

pub(crate) const TASK: &[Key] = &[
    ("about", "What it is for."),
    ("owner", "Who is responsible for it."),
    ("labels", "Names and values by which tasks are found."),
    ("when", "The condition under which it runs."),
    (
        "run",
        "What is run: a shell script as text, a command as a list, or a mapping with one of command, shell, http, grpc.",
    ),
    (
        "sets",
        "Parameters that are set when a run succeeds: to the value of a parameter that the check saw, to now, or to a number.",
    ),
    ("produces", "Parameters that the run itself writes, for the graph and for holding back."),
    ("priority", "Tasks with a larger number go first. By default 0."),
    ("pool", "The pool whose limit it counts against; one of limits.pools."),
    ("retry", "What happens when a run fails."),
    ("max_silence", "An alert follows when the task has not run successfully for this long."),
    (
        "hold_back",
        "How long less important tasks may be held back while the data for this one is being made. By default 10m; 0s for never.",
    ),
    ("timezone", "Its own time zone."),
    ("week_start", "The day that its weeks begin with."),
    ("day_offset", "How long after midnight its days begin."),
    ("paused", "Whether it waits until it is resumed."),
];

pub(crate) const DEFAULTS: &[Key] = &[
    ("owner", "Who is responsible for the tasks."),
    ("labels", "Labels of all tasks, beside their own."),
    ("priority", "Tasks with a larger number go first."),
    ("pool", "The pool whose limit the tasks count against."),
    ("retry", "What happens when a run fails."),
    ("max_silence", "An alert follows when a task has not run successfully for this long."),
    ("hold_back", "How long less important tasks may be held back for each task."),
    ("timezone", "The time zone of the tasks of this file."),
    ("week_start", "The day that weeks begin with in this file."),
    ("day_offset", "How long after midnight days begin in this file."),
    ("paused", "Whether the tasks wait until they are resumed."),
    ("environment", "Variables of all commands, beside their own."),
    ("directory", "Where commands are run."),
    ("timeout", "How long a run may take."),
];

pub(crate) const RUN: &[Key] = &[
    ("command", "A program and its arguments, as a list, without a shell."),
    ("shell", "A script for /bin/sh."),
    ("http", "A call of a URL."),
    ("grpc", "A call of a service that runs tasks."),
    ("environment", "Variables of a command or a script. ${NAME} is an environment variable of Torg."),
    ("directory", "Where a command or a script is run."),
    ("timeout", "How long a run may take. By default 1h."),
];

pub(crate) const HTTP: &[Key] = &[
    ("url", "What is called, with http:// or https://."),
    ("method", "GET, POST, PUT, PATCH or DELETE. By default POST."),
    ("headers", "Headers. ${NAME} is an environment variable of Torg."),
    (
        "body",
        "The body, instead of the values that the check saw. ${NAME} is an environment variable of Torg.",
    ),
    (
        "done",
        "How the end of the run is known: response, callback, or a mapping with poll. By default response.",
    ),
];

pub(crate) const DONE: &[Key] = &[("poll", "A URL is polled.")];

pub(crate) const POLL: &[Key] = &[
    ("url", "What is polled. By default the header Location of the response."),
    ("every", "How often. By default 30s."),
];

pub(crate) const GRPC: &[Key] = &[
    ("address", "The service, as http://host:port, or https://host:port for TLS."),
    ("headers", "Metadata. ${NAME} is an environment variable of Torg."),
    ("tls", "Certificates, if those of the system are not the right ones."),
];

pub(crate) const TLS: &[Key] = &[
    ("ca_file", "Trusted authorities, in PEM."),
    ("cert_file", "The client certificate, in PEM."),
    ("key_file", "The key of the client certificate, in PEM."),
    ("server_name", "The name that the service's certificate must have."),
];

pub(crate) const RETRY: &[Key] = &[
    ("first", "The pause before the second attempt; every later one is twice as long. By default 30s."),
    ("most", "The longest pause. By default 1h."),
    ("attempts", "How often it is tried in all; 1 for a single attempt. By default 10."),
];

pub(crate) const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

pub(crate) const WEEKDAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Chunks with a name; the others are minutes that divide a day.
pub(crate) const CHUNKS: &[(&str, Scale)] = &[
    ("hour", Scale::Hour),
    ("day", Scale::Day),
    ("week", Scale::Week),
    ("month", Scale::Month),
    ("year", Scale::Year),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Grew,
    Fresh,
    CaughtUp,
    New(Option<Scale>),
    This(Option<Scale>),
    Same(Option<Scale>),
}

pub(crate) type Condition = (&'static str, Form, &'static str);

macro_rules! chunked {
    (New, $name:literal, $chunk:expr, $unit:literal, $units:literal) => {
        (
            $name,
            Form::New($chunk),
            concat!(
                "The parameter is in a later ",
                $unit,
                " than at the last successful run; with `by`, at least this many ",
                $units,
                " later."
            ),
        )
    };
    (This, $name:literal, $chunk:expr, $unit:literal, $units:literal) => {
        (
            $name,
            Form::This($chunk),
            concat!(
                "The parameter is in the current ",
                $unit,
                "; with `within`, at most this many ",
                $units,
                " behind it."
            ),
        )
    };
    (Same, $name:literal, $chunk:expr, $unit:literal, $units:literal) => {
        (
            $name,
            Form::Same($chunk),
            concat!(
                "The parameter is in the same ",
                $unit,
                " as the parameter `with`; with `within`, at most this many ",
                $units,
                " behind it."
            ),
        )
    };
}

pub(crate) const CONDITIONS: &[Condition] = &[
    (
        "grew",
        Form::Grew,
        "The parameter has grown by `by` or more since the last successful run: exactly, so that 1d is 24 hours. A number for parameters that are numbers.",
    ),
    ("fresh", Form::Fresh, "The parameter is at most `within` behind the time."),
    ("caught_up", Form::CaughtUp, "The parameter is at most `within` behind the parameter `with`."),
    chunked!(New, "new_hour", Some(Scale::Hour), "hour", "hours"),
    chunked!(New, "new_day", Some(Scale::Day), "day", "days"),
    chunked!(New, "new_week", Some(Scale::Week), "week", "weeks"),
    chunked!(New, "new_month", Some(Scale::Month), "month", "months"),
    chunked!(New, "new_year", Some(Scale::Year), "year", "years"),
    chunked!(New, "new_chunk", None, "`chunk`", "chunks"),
    chunked!(This, "this_hour", Some(Scale::Hour), "hour", "hours"),
    chunked!(This, "today", Some(Scale::Day), "day", "days"),
    chunked!(This, "this_week", Some(Scale::Week), "week", "weeks"),
    chunked!(This, "this_month", Some(Scale::Month), "month", "months"),
    chunked!(This, "this_year", Some(Scale::Year), "year", "years"),
    chunked!(This, "this_chunk", None, "`chunk`", "chunks"),
    chunked!(Same, "same_hour", Some(Scale::Hour), "hour", "hours"),
    chunked!(Same, "same_day", Some(Scale::Day), "day", "days"),
    chunked!(Same, "same_week", Some(Scale::Week), "week", "weeks"),
    chunked!(Same, "same_month", Some(Scale::Month), "month", "months"),
    chunked!(Same, "same_year", Some(Scale::Year), "year", "years"),
    chunked!(Same, "same_chunk", None, "`chunk`", "chunks"),
];

/// The keys of a condition in the order in which they are written.
pub(crate) const fn keys_of(form: Form) -> &'static [Key] {
    const OF: Key = ("of", "The parameter.");
    const WITH: Key = ("with", "The parameter that it is compared with.");
    const CHUNK: Key = ("chunk", "hour, day, week, month, year, or minutes that divide a day, such as 30m.");
    const BY: Key = ("by", "By how much at least: a duration, or a number for parameters that are numbers.");
    const BY_CHUNKS: Key = ("by", "By how many at least.");
    const WITHIN: Key = ("within", "By how much at most.");
    const WITHIN_CHUNKS: Key =
        ("within", "By how many at most; ahead is fine too. Without it both are in the same one.");
    match form {
        Form::Grew => &[OF, BY],
        Form::Fresh => &[OF, WITHIN],
        Form::CaughtUp => &[OF, WITH, WITHIN],
        Form::New(Some(_)) => &[OF, BY_CHUNKS],
        Form::New(None) => &[OF, CHUNK, BY_CHUNKS],
        Form::This(Some(_)) => &[OF, WITHIN_CHUNKS],
        Form::This(None) => &[OF, CHUNK, WITHIN_CHUNKS],
        Form::Same(Some(_)) => &[OF, WITH, WITHIN_CHUNKS],
        Form::Same(None) => &[OF, WITH, CHUNK, WITHIN_CHUNKS],
    }
}

/// Keywords of other tools and the ones here. A suggestion is made only where the second one is
/// allowed.
pub(crate) const SYNONYMS: &[(&str, &str)] = &[
    ("and", "all"),
    ("or", "any"),
    ("args", "command"),
    ("bash", "shell"),
    ("script", "shell"),
    ("sh", "shell"),
    ("cmd", "command"),
    ("exec", "command"),
    ("cwd", "directory"),
    ("workdir", "directory"),
    ("working_directory", "directory"),
    ("description", "about"),
    ("desc", "about"),
    ("env", "environment"),
    ("trigger", "when"),
    ("condition", "when"),
    ("depends_on", "when"),
    ("schedule", "when"),
    ("if", "when"),
    ("triggers", "when"),
    ("retries", "retry"),
    ("max_attempts", "attempts"),
    ("tz", "timezone"),
    ("time_zone", "timezone"),
    ("zone", "timezone"),
    ("deadline", "timeout"),
    ("outputs", "produces"),
    ("writes", "produces"),
    ("macros", "shorthands"),
    ("params", "parameters"),
    ("args", "parameters"),
    ("concurrency", "running"),
    ("max_running", "running"),
    ("queue", "pool"),
    ("tags", "labels"),
    ("uri", "url"),
    ("interval", "every"),
    ("delta", "grew"),
    ("grown", "grew"),
    ("delay", "fresh"),
    ("ref_delay", "caught_up"),
    ("daily", "new_day"),
    ("hourly", "new_hour"),
    ("weekly", "new_week"),
    ("monthly", "new_month"),
    ("this_day", "today"),
    ("same_date", "same_day"),
    ("min_delta", "by"),
    ("max_delay", "within"),
    ("lag", "within"),
    ("scale", "chunk"),
    ("parameter", "of"),
    ("reference", "with"),
    ("minutes", "30m"),
    ("minute", "1m"),
];
