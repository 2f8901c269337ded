//! `torg tasks plan OLD NEW`: compares two sets of task files, without a server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use planner::deploy::{self, AtOnce};
use planner::plans::plans_of;
use planner::recorded::read_values;
use planner::{Plan, Seen, TaskName, TaskState};
use serde_json::json;

use super::asked::Asked;
use super::{files, print};
use terminal::print_words;

/// What to compare, and how to print it.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The task file that is to hold, or the folder of those that are: beside what is at work on a
    /// running process. With NEW: the one that holds.
    #[arg(value_name = "FILES|OLD")]
    pub(super) old: PathBuf,
    /// The task file that is to hold, or the folder: beside OLD. No server is asked.
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    /// Current values, lines of parameter,value: which tasks would fire at once is told only with
    /// them. Tasks of OLD are taken to have run successfully with these values.
    #[arg(long, value_name = "FILE", requires = "new")]
    values: Option<PathBuf>,
    /// The moment of the change, such as 2026-03-25T00:00:00+01:00; by default now.
    #[arg(long, value_name = "TIME", requires = "values")]
    at: Option<Timestamp>,
    #[command(flatten)]
    pub(super) asked: Asked,
}

impl Compare {
    /// Compares two sets of files; `None` if only one is given.
    pub(super) fn offline(&self) -> Option<anyhow::Result<()>> {
        self.new.as_ref().map(|new| run(self, new))
    }
}

fn run(compare: &Compare, new: &PathBuf) -> anyhow::Result<()> {
    let old = files::tasks(std::slice::from_ref(&compare.old))?;
    let new = files::tasks(std::slice::from_ref(new))?;
    let difference = taskfile::difference(&old, &new);
    let fires = match &compare.values {
        None => None,
        Some(path) => {
            let values = files::record(path, read_values)?;
            let now = compare.at.unwrap_or_else(Timestamp::now);
            let (old, new) = (plans_of(&old), plans_of(&new));
            Some(deploy::plan(&old, &settled(&old, &values, now), &new, &values, now).fires)
        }
    };
    if compare.asked.json {
        let mut object = difference.to_json();
        object["fires"] = json!(fires.as_ref().map(|fires| fires.iter().map(as_json).collect::<Vec<_>>()));
        return print(&[serde_json::to_string_pretty(&object)?]);
    }
    let mut lines = vec![difference.to_string().trim_end().to_owned()];
    match fires.as_deref() {
        None => lines.push("which tasks would fire at once is told with --values".to_owned()),
        Some([]) => lines.push("no task fires at once because of it".to_owned()),
        Some(fires) => {
            lines.push(format!("fire at once: {}", fires.len()));
            lines.extend(
                fires.iter().map(|fires| format!("{}: {}", fires.task, fires.calendar.show(&fires.verdict))),
            );
        }
    }
    print_words(&lines)
}

/// The state of tasks that have processed all known values.
fn settled(plans: &[Plan], values: &Seen, now: Timestamp) -> BTreeMap<TaskName, TaskState> {
    let state = |plan: &Plan| {
        let looks_at = plan.trigger.parameters();
        let remembered = values.iter().filter(|(parameter, _)| looks_at.contains(parameter));
        let remembered = remembered.map(|(parameter, value)| (parameter.clone(), *value)).collect();
        TaskState { remembered, runs: 1, last_run: Some(now), last_success: Some(now), ..TaskState::new(now) }
    };
    plans.iter().map(|plan| (plan.name.clone(), state(plan))).collect()
}

fn as_json(fires: &AtOnce) -> serde_json::Value {
    json!({
        "task": &*fires.task,
        "new": fires.is_new,
        "first_seen": fires.first_seen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "why": fires.calendar.show(&fires.verdict).to_string(),
    })
}
