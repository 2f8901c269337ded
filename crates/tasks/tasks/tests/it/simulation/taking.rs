//! What a commit leaves behind.

use crate::simulation::tasks::Deck;
use crate::simulation::world::{Actor, Inside};
use crate::simulation::written::Written;

impl Inside {
    pub(crate) fn take_in(&mut self, written: &Written) {
        self.tasks.extend(written.tasks.iter().map(|(name, task)| (name.clone(), task.clone())));
        self.runs.extend(written.runs.iter().map(|(key, run)| (key.clone(), run.clone())));
        written.old_runs.iter().for_each(|key| _ = self.runs.remove(key));
        for (of, (version, value)) in &written.values {
            let values = self.values.entry(of.clone()).or_default();
            assert_eq!(*version, values.len() as u64 + 1, "{of}");
            values.push(*value);
        }
        self.leader = written.leader.clone().unwrap_or_else(|| self.leader.clone());
        for (number, text) in &written.files {
            let deck = self.texts.get(text).cloned();
            self.decks.insert(*number, deck.unwrap_or_else(|| panic!("nobody has written {text}")));
        }
        if let Some(deployment) = &written.deployment {
            self.newest = deployment.number;
        }
    }

    /// The limits that are exceeded, whatever an owner may go by.
    pub(crate) fn exceeds(&self, actor: &Actor) -> Vec<String> {
        let decks = self.decks_of(actor);
        let wrong: Vec<Option<String>> = decks.into_iter().map(|deck| self.exceeded(deck)).collect();
        if wrong.iter().any(Option::is_none) {
            Vec::new()
        } else {
            wrong.into_iter().flatten().take(1).collect()
        }
    }

    fn exceeded(&self, deck: &Deck) -> Option<String> {
        let running = self.running();
        if running.len() as u64 > deck.running {
            return Some(format!("{running:?} run at the same time, and only {} may", deck.running));
        }
        deck.pools.iter().find_map(|(pool, limit)| {
            let in_pool =
                |name: &&&String| deck.tasks.get(**name).is_some_and(|task| task.pool == Some(pool));
            let count = running.iter().filter(in_pool).count() as u64;
            (count > *limit).then(|| format!("{count} run in the pool {pool}, and only {limit} may"))
        })
    }
}
