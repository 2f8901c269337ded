//! Simulations as tables. Moments are in UTC.

use std::fmt::{self, Display};

use triggers::show_duration;

use super::{Comparison, Firing, Miss, Simulation};
use crate::Seen;
use crate::limits::ROWS_SHOWN;

/// Rows of aligned cells, each row after a line feed.
fn table(out: &mut fmt::Formatter<'_>, head: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    let shown = &rows[..rows.len().min(ROWS_SHOWN)];
    let width = |column: usize| {
        let cells = shown.iter().map(|row| row.get(column).map_or(0, |cell| cell.chars().count()));
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> =
            cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
        write!(out, "\n  {}", cells.join("  ").trim_end())
    };
    line(&mut head.iter().copied())?;
    shown.iter().try_for_each(|row| line(&mut row.iter().map(String::as_str)))?;
    match rows.len() - shown.len() {
        0 => Ok(()),
        more => write!(out, "\n  and {more} more"),
    }
}

fn values(seen: &Seen) -> String {
    let all: Vec<String> = seen.iter().map(|(of, value)| format!("{of}={value}")).collect();
    all.join(" ")
}

fn firing(firing: &Firing) -> Vec<String> {
    let (took, end) = match firing.ended {
        Some((at, true)) => (show_duration(at.duration_since(firing.at)), "ok"),
        Some((at, false)) => (show_duration(at.duration_since(firing.at)), "failed"),
        None => (String::new(), "under way"),
    };
    vec![
        firing.at.to_string(),
        firing.task.to_string(),
        firing.run.to_string(),
        show_duration(firing.waited),
        took,
        end.to_owned(),
        values(&firing.seen),
    ]
}

const FIRING_HEAD: [&str; 7] = ["start", "task", "run", "waited", "took", "end", "seen"];

/// Firings, then problems, then written values. No line feed at the end.
impl Display for Simulation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "from {} to {}: {}", self.from, self.to, count(self.firings.len(), "run"))?;
        if self.cut_off {
            out.write_str(", cut off because there are too many")?;
        }
        if !self.firings.is_empty() {
            table(out, &FIRING_HEAD, &self.firings.iter().map(firing).collect::<Vec<_>>())?;
        }
        let missed = self.misses.len() + self.more_misses;
        if missed == 0 {
            out.write_str("\nnothing was missed")?;
        } else {
            write!(out, "\n{} that no successful run has seen", count(missed, "value"))?;
            let rows: Vec<Vec<String>> = self.misses.iter().map(miss).collect();
            table(out, &["task", "parameter", "missed"], &rows)?;
            if self.more_misses > 0 {
                write!(out, "\n  and {} that are not listed", self.more_misses)?;
            }
        }
        for run in &self.loops {
            let (task, firings, seen) = (&run.task, run.firings, values(&run.seen));
            write!(out, "\n{task} runs in a loop: {firings} runs saw {seen}; paused at {}", run.at)?;
        }
        let mut tasks: Vec<Vec<String>> = Vec::new();
        for (task, silence) in &self.silence {
            let waited = self.starvation.get(task).map_or_else(String::new, |waited| show_duration(*waited));
            tasks.push(vec![task.to_string(), show_duration(*silence), waited]);
        }
        if !tasks.is_empty() {
            out.write_str("\nlongest times by task")?;
            table(out, &["task", "without success", "in the queue"], &tasks)?;
        }
        if !self.writes.is_empty() {
            out.write_str("\nvalues set")?;
            let write = |write: &super::Write| {
                let note = if write.moves_back { "not written: it would move back" } else { "" };
                let set = format!("{}={}", write.parameter, write.value);
                vec![write.at.to_string(), write.task.to_string(), set, note.to_owned()]
            };
            table(out, &["at", "task", "value", ""], &self.writes.iter().map(write).collect::<Vec<_>>())?;
        }
        if !self.alerts.is_empty() {
            out.write_str("\nalerts")?;
            let alert = |(at, task, alert): &(_, _, crate::Alert)| {
                let at: &jiff::Timestamp = at;
                let task: &crate::TaskName = task;
                vec![at.to_string(), task.to_string(), alert.to_string()]
            };
            table(out, &["at", "task", "alert"], &self.alerts.iter().map(alert).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

fn miss(miss: &Miss) -> Vec<String> {
    match miss {
        Miss::Change { task, parameter, value, since } => {
            vec![task.to_string(), parameter.to_string(), format!("{value} since {since}")]
        }
        Miss::Chunk { task, parameter, scale, start } => {
            vec![task.to_string(), parameter.to_string(), format!("the {scale} from {start} on")]
        }
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Runs of only one simulation, then runs at another time. No line feed at the end.
impl Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_same() {
            return write!(out, "both do the same: {}", count(self.same, "run"));
        }
        write!(out, "{} at the same time in both", count(self.same, "run"))?;
        for (which, firings) in [("first", &self.only_first), ("second", &self.only_second)] {
            if !firings.is_empty() {
                write!(out, "\n{} only in the {which}", count(firings.len(), "run"))?;
                table(out, &FIRING_HEAD, &firings.iter().map(firing).collect::<Vec<_>>())?;
            }
        }
        if !self.moved.is_empty() {
            write!(out, "\n{} at another time", count(self.moved.len(), "run"))?;
            let row = |moved: &super::Moved| {
                let later = show_duration(moved.second.duration_since(moved.first));
                let task = moved.task.to_string();
                vec![task, moved.first.to_string(), moved.second.to_string(), later, values(&moved.seen)]
            };
            let head = ["task", "in the first", "in the second", "later by", "seen"];
            table(out, &head, &self.moved.iter().map(row).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
