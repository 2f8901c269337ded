//! The budget of changes: stages that keep changing an entity because of each other are slowed down and named.

use std::time::Duration;

use crate::config::Budget;
use crate::fields::Fields;
use crate::limits::AUTHORS_MAX;
use crate::rows::{Author, Head};
use crate::time::Time;

/// Stages that change one entity again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fight {
    /// The stages, each with the number of its changes and the fields that it changed.
    pub stages: Vec<(String, u32, Vec<String>)>,
    /// How long visits are put off now.
    pub delay: Duration,
}

/// Notes that a stage changed an entity; if that is one change too many, how its stages fight.
pub(crate) fn note_change(
    head: &mut Head,
    budget: &Budget,
    stage: &str,
    changed: &Fields,
    now: Time,
) -> Option<Fight> {
    if now.since(Time::from_ms(head.window_ms)) >= budget.window {
        // A whole window within the budget, so peace is restored.
        if total(head) <= budget.changes {
            head.slowed = 0;
        }
        head.window_ms = now.as_ms();
        head.authors.clear();
    }
    note_author(head, stage, changed);
    if total(head) <= budget.changes {
        return None;
    }
    let delay = budget.delay.saturating_mul(1 << head.slowed.min(20)).min(budget.delay_max);
    head.slowed = head.slowed.saturating_add(1);
    let stages = head.authors.iter().map(|a| (a.stage.clone(), a.changes, a.fields.clone())).collect();
    Some(Fight { stages, delay })
}

fn total(head: &Head) -> u32 {
    head.authors.iter().map(|author| author.changes).sum()
}

fn note_author(head: &mut Head, stage: &str, changed: &Fields) {
    let found = head.authors.iter().position(|author| author.stage == stage);
    // The last place is shared by all stages for which there is no room.
    let at = found.unwrap_or(head.authors.len().min(AUTHORS_MAX - 1));
    if at == head.authors.len() {
        head.authors.push(Author { stage: stage.to_owned(), ..Author::default() });
    }
    let author = &mut head.authors[at];
    author.changes += 1;
    let mut fields = Fields::of(author.fields.iter().map(String::as_str));
    fields.extend_from(changed);
    author.fields =
        if fields.is_all() { vec!["*".to_owned()] } else { fields.paths().map(str::to_owned).collect() };
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget {
        changes: 4,
        window: Duration::from_secs(60),
        delay: Duration::from_secs(1),
        delay_max: Duration::from_secs(10),
    };

    fn at(s: i64) -> Time {
        Time::from_ms(1_000_000 + s * 1000)
    }

    #[test]
    fn stages_that_fight_are_named_with_their_fields_and_slowed_more_and_more() {
        let mut head = Head::default();
        for n in 0..4 {
            let stage = if n % 2 == 0 { "cheap" } else { "dear" };
            assert_eq!(note_change(&mut head, &BUDGET, stage, &Fields::of(["price"]), at(n)), None);
        }
        let fight = note_change(&mut head, &BUDGET, "cheap", &Fields::of(["price", "title"]), at(5)).unwrap();
        let price = vec!["price".to_owned()];
        let both = vec!["price".to_owned(), "title".to_owned()];
        assert_eq!(fight.stages, [("cheap".to_owned(), 3, both), ("dear".to_owned(), 2, price)]);
        assert_eq!(fight.delay, Duration::from_secs(1));
        let delays = (6..12)
            .map(|n| note_change(&mut head, &BUDGET, "dear", &Fields::of(["price"]), at(n)).unwrap().delay);
        let delays: Vec<u64> = delays.map(|delay| delay.as_secs()).collect();
        assert_eq!(delays, [2, 4, 8, 10, 10, 10]);
    }

    #[test]
    fn a_window_within_the_budget_restores_peace() {
        let mut head = Head::default();
        let change = |head: &mut Head, s| note_change(head, &BUDGET, "cheap", &Fields::of(["price"]), at(s));
        (0..4).for_each(|s| assert_eq!(change(&mut head, s), None));
        assert!(change(&mut head, 5).is_some());
        assert_eq!(change(&mut head, 100), None);
        assert_eq!(head.slowed, 1, "the window before was over the budget");
        assert_eq!(change(&mut head, 200), None);
        assert_eq!(head.slowed, 0);
    }

    #[test]
    fn many_stages_are_counted_and_only_some_are_named() {
        let mut head = Head::default();
        for n in 0..100 {
            note_change(&mut head, &BUDGET, &format!("stage{n}"), &Fields::all(), at(0));
        }
        assert_eq!(head.authors.len(), AUTHORS_MAX);
        assert_eq!(total(&head), 100);
    }
}
