//! What must hold once there are no more failures.

use proto::task_state::Phase;
use store::{Read as _, Scan};
use wire::torg::tasks::v1 as proto;

use crate::simulation::process::Ground;
use crate::simulation::tasks::{Seen, seen};
use crate::simulation::world::{Inside, World, running};

impl World {
    /// Every run that rows say is under way is really looked after: it was started, if its place is
    /// there.
    pub(crate) fn everything_is_looked_after(&self) {
        let inside = self.queries();
        let started = |(name, (_, task)): (&String, &(u64, proto::Task))| {
            let key = (name.clone(), running(task)?.run);
            (!inside.real.contains_key(&key))
                .then(|| format!("{key:?} at {} is not looked after", task.place))
        };
        let wrong = inside.tasks.iter().filter_map(started).collect();
        drop(inside);
        self.violated(wrong);
    }

    /// What is still to be done.
    pub(crate) fn undone(&self) -> Vec<String> {
        let inside = self.queries();
        let under_way = inside.real.iter().filter(|(_, real)| real.end.is_none());
        let mut undone: Vec<String> = under_way.map(|(key, _)| format!("{key:?} is under way")).collect();
        undone.extend(inside.missed());
        undone
    }

    pub(crate) fn rows_are_complete(&self) {
        let inside = self.queries();
        let mut wrong = Vec::new();
        for key in inside.real.keys() {
            let is_kept = inside.tasks.get(&key.0).and_then(|(_, task)| task.state.as_option());
            let is_kept = is_kept.is_some_and(|state| key.1 + tasks::limits::RUNS_KEPT > state.runs);
            let has_end = inside.runs.get(key).is_some_and(|row| row.end_time.is_set());
            if is_kept && !has_end {
                wrong.push(format!("{key:?} has no row with its end"));
            }
        }
        for (key, row) in &inside.runs {
            let explained = !row.error.is_empty() || inside.real.contains_key(key);
            if !row.end_time.is_set() || !explained {
                wrong.push(format!("{key:?} has neither run nor error: {row:?}"));
            }
        }
        for (name, (_, task)) in &inside.tasks {
            let last = task.state.as_option().map_or(0, |state| state.runs);
            let first = last.saturating_sub(tasks::limits::RUNS_KEPT) + 1;
            let missing = (first..=last).find(|run| !inside.runs.contains_key(&(name.clone(), *run)));
            wrong.extend(missing.map(|run| format!("run {run} of {name} has no row")));
        }
        drop(inside);
        self.violated(wrong);
    }
}

impl Inside {
    /// Tasks that should run and do not.
    fn missed(&self) -> Vec<String> {
        let (current, mut missed) = (self.current(), Vec::new());
        for (name, task) in &self.decks[&self.newest].tasks {
            let Some((_, row)) = self.tasks.get(name) else {
                missed.push(format!("{name} has missed a change: it is not known"));
                continue;
            };
            let state = row.state.as_option().cloned().unwrap_or_default();
            let sees: Seen =
                current.clone().into_iter().filter(|(of, _)| task.when.parameters().contains(of)).collect();
            let holds = task.when.holds(&current, &seen(&state.remembered));
            let rests = match &state.phase {
                Some(Phase::Resting(resting)) => seen(&resting.seen) == sees,
                None => false,
                Some(other) => {
                    missed.push(format!("{name} is not done: {other:?}"));
                    continue;
                }
            };
            let is_paused = state.paused.is_set() || (task.paused && !state.resumed);
            if holds && !rests && !is_paused {
                missed.push(format!(
                    "{name} has missed a change: {sees:?}, remembered {:?}",
                    seen(&state.remembered)
                ));
            }
            if is_paused || state.manual.is_set() {
                missed.push(format!("{name} is held up"));
            }
        }
        missed
    }
}

/// What is only there to be looked at is gone.
pub(crate) async fn nothing_is_left(ground: &Ground) {
    for table in ["ctl_changed", "task_marks", "task_run_ends", "task_run_kills"] {
        let def = crate::common::schema().tables().iter().copied().find(|def| def.name == table).unwrap();
        let left = ground.memory().scan(&Scan::all(def).limit(3)).await.unwrap().rows;
        ground.world.must(left.is_empty(), || format!("{table} still has {left:?}"));
    }
}
