//! `torg tasks simulate`: replays a log of values and shows which runs would have started.

use std::path::PathBuf;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use planner::plans::plans_of;
use planner::recorded::read_log;
use planner::simulate::{Durations, Recorded, Scenario, Simulation, compare, simulate};

use super::{files, print, simulated};
use terminal::errors::advised;
use terminal::print_words;

/// What to simulate, and how to print it.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Task files, or folders that hold them.
    #[arg(id = "paths", value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    /// The log: lines of time,parameter,value.
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The beginning, such as 2026-03-25T00:00:00+01:00; by default the first change of the log.
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// The end; by default an hour after the last change of the log.
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
    /// How long every run takes, such as 5m.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = triggers::parse_duration)]
    duration: SignedDuration,
    /// Other task files or folders: what they would do otherwise is printed instead.
    #[arg(long, value_name = "OTHER_FILES", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// Prints one object of JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs one simulation, or compares two.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<()> {
    let log = files::record(&asked.log, read_log)?;
    let first = asked.play(&asked.files, &log)?;
    if asked.compare.is_empty() {
        return asked.say(&simulated::simulation(&first), &first);
    }
    let second = asked.play(&asked.compare, &log)?;
    let comparison = compare(&first, &second);
    asked.say(&simulated::comparison(&comparison), &comparison)
}

impl Simulate {
    fn play(&self, paths: &[PathBuf], log: &[Recorded]) -> anyhow::Result<Simulation> {
        let set = files::tasks(paths)?;
        let times = || log.iter().map(|change| change.at);
        let empty = || {
            let message = format!("{}: there is no change in the log", self.log.display());
            advised(message, "give a log with changes, or both --from and --to")
        };
        let from = self.from.or_else(|| times().min()).ok_or_else(empty)?;
        let hour_later =
            |at: Timestamp| at.checked_add(SignedDuration::from_hours(1)).unwrap_or(Timestamp::MAX);
        let to = self.to.or_else(|| times().max().map(hour_later)).ok_or_else(empty)?;
        let scenario = Scenario {
            limits: set.limits().clone(),
            plans: plans_of(&set),
            log: log.to_vec(),
            durations: Durations { default: self.duration, ..Durations::default() },
            ..Scenario::new(from, to)
        };
        simulate(&scenario).map_err(|error| advised(error, "look at --from, --to and the times of the log"))
    }

    fn say(&self, json: &serde_json::Value, words: &impl std::fmt::Display) -> anyhow::Result<()> {
        if self.json { print(&[serde_json::to_string_pretty(json)?]) } else { print_words(&[words]) }
    }
}
