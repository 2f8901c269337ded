//! The budget of changes: stages that keep changing an entity because of each other are slowed
//! down.

use std::fmt;
use std::time::Duration;

use crate::config::Budget;
use crate::fields::Fields;
use crate::limits::AUTHORS_MAX;
use crate::rows::{Author as AuthorRow, Head};
use clock::Time;

/// A stage that keeps changing an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The last of many stands for all that are not named.
    pub stage: String,
    /// Since [`Budget::window`] began.
    pub changes: u32,
    /// The names of the fields that it changed (`*`: all).
    pub fields: Vec<String>,
}

/// Stages that change one entity again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fight {
    pub stages: Vec<Author>,
    /// How long visits are delayed now.
    pub delay: Duration,
}

/// The visits of an entity are delayed, because stages fight over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slowed {
    pub stages: Vec<Author>,
    /// The delay of the last change beyond the budget; the next one is longer.
    pub delay: Duration,
    /// The end of the delay of visits that follow changes by stages; `None` if it is over, but the
    /// next change by a stage is delayed again.
    pub until: Option<Time>,
}

/// Notes that a stage changed an entity; returns the fight if that is one change too many.
pub(crate) fn note_change(
    head: &mut Head,
    budget: &Budget,
    stage: &str,
    changed: &Fields,
    now: Time,
) -> Option<Fight> {
    if now.since(Time::from_ms(head.window_ms)) >= budget.window {
        // A whole window within the budget ends the fight.
        if total(head) <= budget.changes {
            head.slowed = 0;
        }
        head.window_ms = now.as_ms();
        head.authors.clear();
        head.put_off_ms = 0;
    }
    note_author(head, stage, changed);
    if total(head) <= budget.changes {
        return None;
    }
    let delay = delay_after(head.slowed, budget);
    head.slowed = head.slowed.saturating_add(1);
    head.put_off_ms = (now + delay).as_ms();
    Some(Fight { stages: authors(head), delay })
}

/// `None` if the entity is not delayed.
pub(crate) fn slowed(head: &Head, budget: &Budget, now: Time) -> Option<Slowed> {
    let until = Some(Time::from_ms(head.put_off_ms)).filter(|until| *until > now);
    let is_over = now < Time::from_ms(head.window_ms) + budget.window && total(head) > budget.changes;
    let delay = delay_after(head.slowed.checked_sub(1)?, budget);
    (is_over || until.is_some()).then(|| Slowed { stages: authors(head), delay, until })
}

/// The delay after this many changes beyond the budget.
fn delay_after(slowed: u32, budget: &Budget) -> Duration {
    budget.delay.saturating_mul(1 << slowed.min(20)).min(budget.delay_max)
}

fn authors(head: &Head) -> Vec<Author> {
    let author = |row: &AuthorRow| {
        let AuthorRow { stage, changes, fields, .. } = row.clone();
        Author { stage, changes, fields }
    };
    head.authors.iter().map(author).collect()
}

fn total(head: &Head) -> u32 {
    head.authors.iter().map(|author| author.changes).sum()
}

fn note_author(head: &mut Head, stage: &str, changed: &Fields) {
    let found = head.authors.iter().position(|author| author.stage == stage);
    // The last place is shared by all stages for which there is no room.
    let at = found.unwrap_or(head.authors.len().min(AUTHORS_MAX - 1));
    if at == head.authors.len() {
        head.authors.push(AuthorRow { stage: stage.to_owned(), ..AuthorRow::default() });
    }
    let author = &mut head.authors[at];
    author.changes += 1;
    let mut fields = Fields::of(author.fields.iter().map(String::as_str));
    fields.extend_from(changed);
    author.fields =
        if fields.is_all() { vec!["*".to_owned()] } else { fields.paths().map(str::to_owned).collect() };
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, changes, fields } = self;
        let times = if *changes == 1 { "once".to_owned() } else { format!("{changes} times") };
        write!(f, "{stage} changed it {times} ({})", fields.join(", "))
    }
}

fn write_authors(f: &mut fmt::Formatter<'_>, authors: &[Author]) -> fmt::Result {
    for (n, author) in authors.iter().enumerate() {
        write!(f, "{}{author}", if n == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl fmt::Display for Fight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_authors(f, &self.stages)?;
        write!(f, "; visits are put off by {:?}", self.delay)
    }
}

impl fmt::Display for Slowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slowed down: ")?;
        write_authors(f, &self.stages)?;
        match self.until {
            Some(until) => write!(f, "; visits are put off by {:?}, until {until}", self.delay),
            None => {
                write!(f, "; visits were put off by {:?}, the next change puts them off again", self.delay)
            }
        }
    }
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
        let author = |stage: &str, changes, fields: &[&str]| Author {
            stage: stage.to_owned(),
            changes,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        };
        assert_eq!(fight.stages, [author("cheap", 3, &["price", "title"]), author("dear", 2, &["price"])]);
        assert_eq!(fight.delay, Duration::from_secs(1));
        assert_eq!(
            fight.to_string(),
            "cheap changed it 3 times (price, title), dear changed it 2 times (price); visits are put off by 1s"
        );
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
    fn an_entity_is_slowed_down_until_its_visits_are_no_longer_put_off_and_the_window_has_passed() {
        let mut head = Head::default();
        let change = |head: &mut Head, s| note_change(head, &BUDGET, "cheap", &Fields::of(["price"]), at(s));
        (0..4).for_each(|s| assert_eq!(change(&mut head, s), None));
        assert_eq!(slowed(&head, &BUDGET, at(4)), None, "within the budget");
        let fight = change(&mut head, 5).unwrap();
        let now = slowed(&head, &BUDGET, at(5)).unwrap();
        assert_eq!((&now.stages, now.delay, now.until), (&fight.stages, fight.delay, Some(at(6))));
        assert_eq!(
            now.to_string(),
            "slowed down: cheap changed it 5 times (price); visits are put off by 1s, until 1970-01-01T00:16:46Z"
        );
        let later = slowed(&head, &BUDGET, at(6)).unwrap();
        assert_eq!((later.delay, later.until), (fight.delay, None), "the next change puts them off again");
        assert!(slowed(&head, &BUDGET, at(59)).is_some());
        assert_eq!(slowed(&head, &BUDGET, at(60)), None, "the window has passed");
        // Visits can be delayed beyond the window.
        (55..59).for_each(|s| assert!(change(&mut head, s).is_some()));
        assert_eq!(slowed(&head, &BUDGET, at(67)).unwrap().until, Some(at(68)));
        assert_eq!(slowed(&head, &BUDGET, at(68)), None);
        assert_eq!(change(&mut head, 70), None);
        assert_eq!((head.slowed, slowed(&head, &BUDGET, at(70))), (5, None), "peace, if it lasts");
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
