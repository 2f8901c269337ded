//! Runs with random ends.

use rand::RngExt;

use super::world::{Real, World};
use crate::{Outcome, Seen, TaskName};

impl World {
    /// Starts a run once.
    pub(super) fn start(&mut self, task: &TaskName, run: u64, seen: &Seen) {
        if self.runs.contains_key(&(task.clone(), run)) {
            return;
        }
        let other = self.runs.iter().find(|((other, _), real)| other == task && real.ended.is_none());
        if let Some(((_, other), _)) = other {
            let text = format!("run {run} of {task} starts while run {other} is under way");
            self.violated(&text);
        }
        self.runs.insert((task.clone(), run), Real { seen: seen.clone(), ended: None });
    }

    pub(super) fn end_a_run(&mut self) {
        let running: Vec<_> =
            self.runs.iter().filter(|(_, real)| real.ended.is_none()).map(|(id, _)| id.clone()).collect();
        if running.is_empty() {
            return;
        }
        let id = running[self.dice.random_range(0..running.len())].clone();
        let outcome = match self.dice.random_range(0..10) {
            0..6 => Outcome::success(),
            6..9 => Outcome::Failed { error: "exit code 1".to_owned() },
            _ => Outcome::Lost,
        };
        self.end(&id, outcome);
    }

    pub(super) fn end(&mut self, id: &(TaskName, u64), outcome: Outcome) {
        self.runs.get_mut(id).unwrap().ended = Some((outcome, self.now));
        // Sometimes the end is not reported at once.
        if self.dice.random_bool(0.9) {
            self.tell_end(&id.0, id.1);
        }
    }

    pub(super) fn tell_end(&mut self, task: &TaskName, run: u64) {
        let ended = self.runs.get(&(task.clone(), run)).and_then(|real| real.ended.clone());
        if let Some((outcome, at)) = ended {
            self.planner.run_ended(task, run, outcome, at);
        }
    }

    /// Reports all ends again, also of old runs.
    pub(super) fn tell_again(&mut self) {
        let all: Vec<_> = self.runs.keys().cloned().collect();
        for (task, run) in all {
            self.tell_end(&task, run);
        }
    }
}
