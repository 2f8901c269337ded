//! Operators and loaders: values move, forward and sometimes back, and operators take every manual
//! action.

use std::time::Duration;

use ctl::{Change, Ctl};
use planner::BackfillOrder;
use tasks::{Error, Tasks};
use tokio::time::{Instant, sleep};
use triggers::{Scale, Value};

use crate::common::parameter;
use crate::simulation::dice::Dice;
use crate::simulation::gate::Gate;
use crate::simulation::process::Ground;
use crate::simulation::tasks::{Deck, MOMENTS, NUMBERS, TASKS, moment_name, number_name, task_name};
use crate::simulation::world::{Actor, World};

const AGAIN: Duration = Duration::from_millis(500);

fn actor(name: &str) -> Actor {
    Actor { name: name.to_owned(), place: String::new() }
}

/// Sets what comes from outside.
pub(crate) struct Loader {
    ctl: Ctl,
    dice: Dice,
    world: World,
}

impl Loader {
    pub(crate) async fn new(ground: &Ground, name: &str) -> Self {
        let tasks = ground.open(&actor(name), &Gate::default()).await;
        Self { ctl: tasks.ctl().clone(), dice: Dice::of(ground.seed, name), world: ground.world.clone() }
    }

    pub(crate) async fn act(&self, until: Instant) {
        while Instant::now() < until {
            sleep(self.dice.ms(0..6000)).await;
            let mut changes: Vec<Change> = Vec::new();
            for _ in 0..self.dice.within(1..4) {
                let change = self.change();
                if changes.iter().all(|known| known.parameter != change.parameter) {
                    changes.push(change);
                }
            }
            self.set(changes).await;
        }
    }

    /// Some of the values move once more.
    pub(crate) async fn last_words(&self) {
        for number in (0..NUMBERS).filter(|_| self.dice.percent(40)) {
            self.set(vec![self.moved(&number_name(number), false)]).await;
        }
    }

    async fn set(&self, changes: Vec<Change>) {
        match self.ctl.set(changes, "loader", "").await {
            Ok(_) => self.world.count("changes"),
            // Whether it was made is seen by those who look.
            Err(error) => self.world.must(error.is_passing(), || format!("a loader is told: {error}")),
        }
    }

    fn change(&self) -> Change {
        let of = self.dice.within(0..(NUMBERS + MOMENTS) as u64) as usize;
        let of = if of < NUMBERS { number_name(of) } else { moment_name(of - NUMBERS) };
        if self.dice.percent(3) {
            return Change::delete(parameter(&of));
        }
        let back = self.dice.percent(6);
        self.moved(&of, back)
    }

    fn moved(&self, of: &str, back: bool) -> Change {
        use crate::simulation::tasks::Known;
        let by = if back { -self.dice.number(1..6) } else { self.dice.number(0..5) };
        let known = self.world.queries().value(of);
        let moment = |ms: i64| Value::Time(jiff::Timestamp::from_millisecond(ms).unwrap());
        let value = match known {
            Some(Known::Number(last)) => Value::Number(last + by),
            Some(Known::Moment(last)) => moment(last + by * 5 * 3_600_000),
            None if of.ends_with("rows") => Value::Number(self.dice.number(0..20)),
            None => moment(1_699_999_200_000),
        };
        Change::set(parameter(of), value).moving_back()
    }
}

/// Takes manual actions.
pub(crate) struct Office {
    tasks: Tasks,
    dice: Dice,
    world: World,
    deck: Deck,
}

impl Office {
    pub(crate) async fn new(ground: &Ground) -> Self {
        let tasks = ground.open(&actor("office"), &Gate::default()).await;
        let dice = Dice::of(ground.seed, "office");
        let office = Self { tasks, deck: Deck::of(&dice), dice, world: ground.world.clone() };
        office.apply().await;
        office
    }

    /// Puts the deck to work.
    async fn apply(&self) {
        let text = self.deck.yaml();
        self.world.queries().texts.insert(text.clone(), self.deck.clone());
        loop {
            let signed = self.tasks.signed("anna", "other tasks").unwrap();
            let done = self.tasks.apply(vec![("tasks.yaml".into(), text.clone())], Some(&signed)).await;
            match done {
                Ok(_) => return self.world.count("deployments"),
                Err(error) => self.accept(&error),
            }
            sleep(AGAIN).await;
        }
    }

    pub(crate) async fn act(&mut self, until: Instant) {
        while Instant::now() < until {
            sleep(self.dice.ms(0..12_000)).await;
            if self.dice.percent(12) {
                self.deck = self.deck.changed(&self.dice);
                self.apply().await;
                continue;
            }
            let task = task_name(self.dice.within(0..TASKS as u64) as usize);
            match self.touch(&task).await {
                Ok(()) => self.world.count("actions"),
                Err(error) => self.accept(&error),
            }
        }
    }

    async fn touch(&self, task: &str) -> Result<(), Error> {
        let (office, dice) = (&self.tasks, &self.dice);
        let signed = office.signed("anna", "it had to be").unwrap();
        let number = number_name(dice.within(0..NUMBERS as u64) as usize);
        let number = parameter(&number);
        match dice.within(0..100) {
            0..15 => office.pause(task, &signed).await,
            15..32 => office.resume(task, &signed).await,
            32..50 => office.run_now(task, dice.percent(60), &signed).await,
            50..56 => office.delete_remembered(task, None, &signed).await,
            56..62 => office.delete_remembered(task, Some(&number), &signed).await,
            62..70 => {
                let value = Value::Number(dice.number(0..40));
                office.set_remembered(task, &number, value, &signed).await
            }
            70..78 => office.cancel(task, &signed).await,
            78..88 => office.kill(task, &signed).await.map(drop),
            88..94 => {
                let from = jiff::Timestamp::from_second(1_699_900_000).unwrap();
                let to = jiff::Timestamp::from_second(1_700_090_000).unwrap();
                let (limit, record) = (dice.within(1..3) as u32, dice.percent(50));
                let order = BackfillOrder { scale: Some(Scale::Day), from, to, limit, record };
                office.start_backfill(task, &order, &signed).await.map(drop)
            }
            94..98 => office.resume_backfill(task, &signed).await,
            _ => office.cancel_backfill(task, &signed).await,
        }
    }

    /// Everything that is held up goes on.
    pub(crate) async fn release_all(&self) {
        let signed = self.tasks.signed("anna", "all is well").unwrap();
        for task in self.deck.tasks.keys() {
            for attempt in 0.. {
                let resumed = self.tasks.resume(task, &signed).await;
                match resumed {
                    Err(Error::NotLoaded(_)) if attempt < 100 => sleep(AGAIN).await,
                    Err(error) if !matches!(error, Error::Task(_)) => {
                        panic!("{task} cannot be resumed: {error}")
                    }
                    _ => break,
                }
            }
            // Most have none, or none that has stopped.
            let _ = self.tasks.resume_backfill(task, &signed).await;
        }
    }

    /// Refusals that are no errors of the implementation.
    fn accept(&self, error: &Error) {
        let is_usual = error.is_passing() || matches!(error, Error::Task(_) | Error::NotRunning(_));
        self.world.must(is_usual, || format!("an action failed: {error}"));
    }
}
