//! What every commit must be, seen from the rows alone and from what really ran.

use std::collections::BTreeSet;

use proto::__buffa::oneof::cause::Kind as Cause;
use proto::task_run::Outcome;
use proto::task_state::Running;
use runs::Reason;
use store::Batch;
use wire::torg::tasks::v1 as proto;

use crate::simulation::tasks::{Deck, Known, Seen, Task, is_delta, seen};
use crate::simulation::world::{Actor, Inside, RunKey, World, running};
use crate::simulation::written::Written;

/// A commit on its way into what is known.
struct Commit<'a> {
    inside: &'a Inside,
    actor: &'a Actor,
    written: &'a Written,
    /// What the owner may go by.
    decks: Vec<&'a Deck>,
    /// Values that some end in the commit explains.
    explained: BTreeSet<String>,
    wrong: Vec<String>,
    counts: Vec<&'static str>,
}

impl World {
    /// A batch was applied.
    pub(crate) fn committed(&self, actor: &Actor, batch: &Batch) {
        let written = Written::of(batch);
        let mut inside = self.queries();
        let mut commit = Commit {
            inside: &inside,
            actor,
            written: &written,
            decks: inside.decks_of(actor),
            explained: BTreeSet::new(),
            wrong: Vec::new(),
            counts: Vec::new(),
        };
        commit.judge();
        let Commit { mut wrong, counts, .. } = commit;
        inside.take_in(&written);
        if counts.iter().any(|what| what.starts_with("starts")) {
            wrong.extend(inside.exceeds(actor));
        }
        for what in counts {
            *inside.counts.entry(what.to_owned()).or_default() += 1;
        }
        drop(inside);
        self.violated(wrong);
    }
}

impl Commit<'_> {
    fn must(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{}: {}", self.actor.name, violation()));
        }
    }

    fn judge(&mut self) {
        let written = self.written;
        for (name, (version, after)) in &written.tasks {
            let before = self.inside.tasks.get(name);
            let last = before.map_or(0, |(version, _)| *version);
            self.must(*version == last + 1, || format!("{name} has version {version} after {last}"));
            let unknown = proto::Task::default();
            let before = before.map_or(&unknown, |(_, task)| task);
            if written.by_people.contains(name) {
                self.must(running(before) == running(after), || {
                    format!("an action ends or starts a run of {name}")
                });
                continue;
            }
            self.is_owner(&format!("decides on {name}"));
            match (running(before), running(after)) {
                (None, Some(run)) => self.start(name, before, after, run),
                (Some(run), None) => self.end(name, before, after, run),
                (before_run, after_run) => {
                    self.must(before_run == after_run, || {
                        format!("another run of {name} takes the place of one")
                    });
                    self.remembers(name, after, &remembered(before));
                }
            }
        }
        for of in &written.forgotten {
            self.is_owner("forgets marks");
            let seen = self.inside.looked.get(&self.actor.name).and_then(|looked| looked.get(of));
            let now = self.inside.values.get(of).map(|values| values.len() as u64);
            self.must(seen >= now.as_ref(), || {
                format!("a mark of {of} is forgotten that no process has seen")
            });
        }
        if written.heard && !self.actor.place.is_empty() {
            self.is_owner("forgets what others have told");
        }
        for (key, reported) in &written.reported {
            self.is_true(key, reported.outcome.as_known().unwrap_or_default(), &reported.error);
        }
        for key in &written.obeyed {
            let is_under_way = self.inside.tasks.get(&key.0).and_then(|(_, task)| running(task));
            let is_under_way = is_under_way.is_some_and(|run| run.run == key.1);
            let is_killed = self.inside.real.get(key).is_some_and(|real| real.killed || real.end.is_some());
            self.must(is_killed || !is_under_way, || format!("{key:?} is to be killed, and nobody does"));
        }
        if !written.tasks.is_empty() {
            let surplus: Vec<_> = written.values.keys().filter(|of| !self.explained.contains(*of)).collect();
            self.must(surplus.is_empty(), || format!("{surplus:?} are set with no success"));
        }
    }

    /// Only who has the lease may do this.
    fn is_owner(&mut self, what: &str) {
        let leader = self.inside.leader.clone();
        self.must(leader == self.actor.name, || format!("{what} without the lease, which {leader:?} has"));
    }

    fn remembers(&mut self, name: &str, after: &proto::Task, expected: &Seen) {
        let now = remembered(after);
        self.must(now == *expected, || format!("{name} remembers {now:?}, not {expected:?}"));
    }

    fn start(&mut self, name: &str, before: &proto::Task, after: &proto::Task, run: &Running) {
        let state = |task: &proto::Task| task.state.as_option().cloned().unwrap_or_default();
        let (last, number) = (state(before).runs, run.run);
        self.must(number == last + 1 && state(after).runs == number, || {
            format!("run {number} of {name} follows {last}")
        });
        self.must(after.place == self.actor.place, || format!("{name} is to run at {:?}", after.place));
        let under_way = self.inside.under_way(name);
        self.must(under_way.is_empty(), || {
            format!("{name} is to start, and {under_way:?} are under way: two at once")
        });
        self.remembers(name, after, &remembered(before));
        let row = self.written.runs.get(&(name.to_owned(), number));
        let is_right = |row: &proto::TaskRun| {
            row.seen == run.seen
                && row.cause == run.cause
                && row.place == after.place
                && !row.end_time.is_set()
        };
        self.must(row.is_some_and(is_right), || format!("run {number} of {name} has no row, or a wrong one"));
        let saw = seen(&run.seen);
        self.saw_what_is_there(name, &saw);
        let tasks: Vec<&Task> = self.decks.iter().filter_map(|deck| deck.tasks.get(name)).collect();
        let paused = |task: &Task| state(after).paused.is_set() || (task.paused && !state(after).resumed);
        let cause = run.cause.as_option().and_then(|cause| cause.kind.as_ref());
        let may = tasks.iter().any(|task| {
            task.when.parameters().into_iter().all(|of| saw.contains_key(of) || self.may_be_missing(of))
                && saw.keys().all(|of| task.when.parameters().contains(of))
                && match cause {
                    None => !paused(task) && task.when.holds(&saw, &remembered(before)),
                    Some(Cause::Chunk(_)) => !paused(task),
                    Some(Cause::Manual(_)) => true,
                }
        });
        self.must(may, || {
            format!(
                "{name} starts without a reason: {cause:?}, saw {saw:?}, remembers {:?}",
                remembered(before)
            )
        });
        self.counts.push(match cause {
            None => "starts by trigger",
            Some(Cause::Manual(_)) => "starts by hand",
            Some(Cause::Chunk(_)) => "starts of chunks",
        });
    }

    /// A run sees values that were there when the owner looked for changes, or came since.
    fn saw_what_is_there(&mut self, name: &str, saw: &Seen) {
        for (of, value) in saw {
            let since = self.since(of);
            let there = since.contains(&Some(*value));
            self.must(there, || format!("{name} saw an old value of {of}: {value:?}, not one of {since:?}"));
        }
    }

    fn may_be_missing(&self, of: &str) -> bool {
        self.since(of).contains(&None)
    }

    /// The values of a parameter since the owner looked.
    fn since(&self, of: &str) -> Vec<Option<Known>> {
        let looked = self.inside.looked.get(&self.actor.name).and_then(|looked| looked.get(of)).copied();
        let values = self.inside.values.get(of).cloned().unwrap_or_default();
        let before = looked.map_or(0, |version| version as usize);
        let mut since = if before == 0 { vec![None] } else { Vec::new() };
        since.extend_from_slice(&values[before.saturating_sub(1)..]);
        since
    }

    fn end(&mut self, name: &str, before: &proto::Task, after: &proto::Task, run: &Running) {
        let key: RunKey = (name.to_owned(), run.run);
        let Some(row) = self.written.runs.get(&key).filter(|row| row.end_time.is_set()) else {
            return self.must(false, || format!("run {} of {name} ends and has no row", run.run));
        };
        let is_same =
            |known: &proto::TaskRun| known.seen == row.seen && known.id == row.id && known.place == row.place;
        self.must(self.inside.runs.get(&key).is_some_and(is_same), || format!("{key:?} ends as another run"));
        self.must(after.place.is_empty(), || format!("{name} does not run and is at {:?}", after.place));
        let outcome = row.outcome.as_known().unwrap_or_default();
        self.is_true(&key, outcome, &row.error);
        let succeeded = outcome == Outcome::OUTCOME_SUCCEEDED;
        self.counts.push(match outcome {
            Outcome::OUTCOME_SUCCEEDED => "successes",
            Outcome::OUTCOME_LOST => "losses",
            _ => "failures",
        });
        let (saw, last) = (seen(&run.seen), remembered(before));
        match run.cause.as_option().and_then(|cause| cause.kind.as_ref()) {
            Some(Cause::Chunk(_)) if succeeded => self.remembers_chunk(name, before, after, &saw),
            Some(Cause::Manual(manual)) if !manual.record => self.remembers(name, after, &last),
            _ => self.remembers(name, after, if succeeded { &saw } else { &last }),
        }
        if succeeded {
            let is_chunk =
                matches!(run.cause.as_option().and_then(|cause| cause.kind.as_ref()), Some(Cause::Chunk(_)));
            self.sets(&key, row, &saw, is_chunk);
        }
    }

    /// A chunk moves what is remembered only if that was asked, only forward, and never beyond what
    /// its run saw.
    fn remembers_chunk(&mut self, name: &str, before: &proto::Task, after: &proto::Task, saw: &Seen) {
        let backfill = before.state.as_option().and_then(|state| state.backfill.as_option());
        let (last, now) = (remembered(before), remembered(after));
        if backfill.is_none_or(|backfill| !backfill.record) {
            return self.remembers(name, after, &last);
        }
        let tasks: Vec<&Task> = self.decks.iter().filter_map(|deck| deck.tasks.get(name)).collect();
        for (of, value) in &now {
            let is_moved = last.get(of).is_none_or(|last| value > last)
                && saw.get(of).is_some_and(|saw| value <= saw)
                && tasks.iter().any(|task| is_delta(task, of));
            self.must(last.get(of) == Some(value) || is_moved, || {
                format!("{name} remembers {value:?} of {of} after a chunk")
            });
        }
        self.must(last.keys().all(|of| now.contains_key(of)), || format!("{name} forgets after a chunk"));
    }

    /// What is told of a run is what happened to it.
    fn is_true(&mut self, key: &RunKey, reported: Outcome, error: &str) {
        let real = self.inside.real.get(key);
        let Some(real) = real else {
            let explained = reported != Outcome::OUTCOME_SUCCEEDED && !error.is_empty();
            // Who tells that a run was lost need not say why.
            return self.must(explained || reported == Outcome::OUTCOME_LOST, || {
                format!("{key:?} never was, and is told {reported:?}")
            });
        };
        let is_true = match (&real.end, reported) {
            (None, _) => false,
            (Some(_), Outcome::OUTCOME_LOST) if real.place != self.actor.place => true,
            (Some(end), reported) => match end.reason {
                Reason::Done => reported == Outcome::OUTCOME_SUCCEEDED,
                Reason::Died => reported == Outcome::OUTCOME_LOST,
                _ => reported == Outcome::OUTCOME_FAILED,
            },
        };
        let end = real.end.as_ref().map_or("under way", |end| match end.reason {
            Reason::Done => "done",
            _ => "not done",
        });
        self.must(is_true, || format!("{key:?} is told to be {reported:?}, and it is {end}"));
    }

    /// The values of a success stand in its own commit, unless they stand there already or would
    /// move back.
    fn sets(&mut self, key: &RunKey, row: &proto::TaskRun, saw: &Seen, is_chunk: bool) {
        let own = self
            .inside
            .real
            .get(key)
            .and_then(|real| real.end.clone())
            .map(|end| end.sets)
            .unwrap_or_default();
        let own = own.iter().map(|(of, value)| match value {
            triggers::Value::Number(number) => (of.clone(), Known::Number(*number)),
            triggers::Value::Time(time) => (of.clone(), Known::Moment(time.as_millisecond())),
        });
        let own: Seen = own.collect();
        let mut expected: Vec<Seen> = Vec::new();
        for deck in &self.decks {
            let task = deck.tasks.get(&key.0).filter(|_| !is_chunk);
            let mut writes = task.map(|task| task.writes(saw)).unwrap_or_default();
            writes.extend(own.clone());
            expected.push(writes);
        }
        let is_set = |of: &String, value: &Known| match self.written.values.get(of) {
            Some((_, set)) => set.as_ref() == Some(value),
            None => match self.inside.value(of) {
                Some(current) if current == *value => true,
                Some(current) => current > *value && row.refused.contains_key(of),
                None => false,
            },
        };
        let found =
            expected.iter().find(|writes| writes.iter().all(|(of, value)| is_set(of, value))).cloned();
        self.must(found.is_some(), || format!("{key:?} does not set what it should: {expected:?}"));
        self.explained.extend(found.unwrap_or_default().into_keys());
    }
}

fn remembered(task: &proto::Task) -> Seen {
    task.state.as_option().map(|state| seen(&state.remembered)).unwrap_or_default()
}
