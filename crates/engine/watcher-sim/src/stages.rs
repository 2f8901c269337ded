//! The stages: each does one thing that the watcher must handle.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use watcher::{Answer, Clock, Fields, Interest, Saved, Schedule, Stage, StageError, Subject, shard_of};

use crate::dice::Dice;
use crate::gate::Gate;
use crate::scenario::Scenario;
use crate::thing::{ASKED, COUNT, FIELDS, FOLLOW, PATCH, PRICE, PROUD, SHAKY, SOURCE, TEXT, Thing};
use crate::world::{Actor, Call, SavedCall, What, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Changes a field when another changes.
    Follow,
    /// Is asked, and answers anything.
    Asked,
    /// Requests later visits.
    Timer,
    /// Counts its visits in its state.
    Count,
    /// Wants the price to be even.
    Even,
    /// Wants the price to be odd.
    Odd,
    /// Fails with passing and lasting errors.
    Shaky,
    /// Hangs now and then.
    Hanging,
    /// Panics now and then.
    Panicky,
    /// Answers slowly with a patch.
    Patch,
    /// Implements `on_saved`.
    Proud,
}

impl Kind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Follow,
        Self::Asked,
        Self::Timer,
        Self::Count,
        Self::Even,
        Self::Odd,
        Self::Shaky,
        Self::Hanging,
        Self::Panicky,
        Self::Patch,
        Self::Proud,
    ];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Asked => "asked",
            Self::Timer => "timer",
            Self::Count => "count",
            Self::Even => "even",
            Self::Odd => "odd",
            Self::Shaky => "shaky",
            Self::Hanging => "hanging",
            Self::Panicky => "panicky",
            Self::Patch => "patch",
            Self::Proud => "proud",
        }
    }

    pub(crate) fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    pub(crate) fn interest(self) -> Interest {
        let on = |fields: &[usize]| Fields::of(fields.iter().map(|field| FIELDS[*field]));
        match self {
            Self::Asked => Interest::ask_about_all(),
            Self::Even | Self::Odd => Interest::ask_about(on(&[PRICE])),
            Self::Follow | Self::Timer => Interest::visit_on(on(&[SOURCE])),
            Self::Count => Interest::visit_on(on(&[FOLLOW])),
            Self::Shaky => Interest::visit_on(on(&[SOURCE, TEXT])),
            Self::Hanging | Self::Panicky => Interest::visit_on(on(&[TEXT])),
            Self::Patch => Interest::visit_on(on(&[SOURCE])).reading(&on(&[FOLLOW])),
            Self::Proud => Interest::visit_on(on(&[SOURCE, ASKED])),
        }
    }

    pub(crate) fn wants_saved(self) -> bool {
        self == Self::Proud
    }
}

/// A stage in one process.
pub(crate) struct Performer {
    kind: Kind,
    instance: String,
    world: World,
    gate: Gate,
    clock: Clock,
    dice: Dice,
    shards: u32,
    shakiness: u64,
    lasting: u64,
    call: Duration,
}

pub(crate) fn stages(
    scenario: &Scenario,
    world: &World,
    actor: &Actor,
    gate: &Gate,
) -> Vec<Arc<dyn Stage<Thing>>> {
    let performer = |kind: Kind| Performer {
        kind,
        instance: actor.name.clone(),
        world: world.clone(),
        gate: gate.clone(),
        clock: actor.clock.clone(),
        dice: Dice::of(scenario.seed, &format!("{} {}", actor.name, kind.id())),
        shards: scenario.config.shards,
        shakiness: scenario.shakiness,
        lasting: scenario.lasting,
        call: scenario.call,
    };
    Kind::ALL.into_iter().map(|kind| Arc::new(performer(kind)) as Arc<dyn Stage<Thing>>).collect()
}

impl Performer {
    fn call(&self, what: What, subject: &Subject<Thing>) -> Call {
        // Other work may come between the read, when the time was taken, and the call.
        let delay = self.gate.delay() + self.clock.now().since(subject.now);
        Call {
            instance: self.instance.clone(),
            stage: self.kind.id(),
            what,
            shard: shard_of(&subject.entity.id, self.shards),
            thing: subject.entity.clone(),
            version: subject.version,
            state: subject.state.clone(),
            now: subject.now,
            began_ms: 0,
            delay_ms: delay.as_millis() as u64,
            commits: 0,
        }
    }

    /// Whether something goes wrong now, twice as often with the shaky stage.
    fn is_bad_day(&self) -> bool {
        let chance = if self.kind == Kind::Shaky { 2 * self.shakiness } else { self.shakiness };
        self.dice.thousandths(chance) && !self.world.is_calm()
    }

    async fn work(&self) {
        let longest = self.call.as_millis() as u64 + 1;
        let slow = if self.kind == Kind::Patch || self.dice.thousandths(50) { 4 } else { 1 };
        tokio::time::sleep(self.dice.ms(0..longest * slow)).await;
    }

    fn answer(&self, subject: &Subject<Thing>) -> Answer<Thing> {
        let Subject { entity, state, now, .. } = subject;
        let value = |field: usize| entity.values[field];
        match self.kind {
            Kind::Follow => Answer::replace(entity.with(FOLLOW, value(SOURCE) * 10)),
            Kind::Asked => Answer::replace(entity.with(ASKED, value(SOURCE) % 3)),
            Kind::Timer if self.dice.thousandths(700) && !self.world.is_calm() => {
                Answer::untouched().visit_at(*now + self.dice.ms(0..8000))
            }
            Kind::Count => {
                let count: i64 = std::str::from_utf8(state).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
                Answer::replace(entity.with(COUNT, count)).with_state((count + 1).to_string())
            }
            Kind::Even => Answer::replace(entity.with(PRICE, value(PRICE) & !1)),
            Kind::Odd => Answer::replace(entity.with(PRICE, value(PRICE) | 1)),
            Kind::Shaky => Answer::replace(entity.with(SHAKY, value(SOURCE) + value(TEXT))),
            Kind::Timer | Kind::Hanging | Kind::Panicky => Answer::untouched(),
            Kind::Patch => {
                let patched = entity.with(PATCH, value(SOURCE) + value(FOLLOW));
                let fields = Fields::of([FIELDS[PATCH]]);
                let answer = Answer::patch(fields, patched);
                if self.world.is_calm() { answer } else { answer.visit_at(*now + self.dice.ms(1000..20_000)) }
            }
            Kind::Proud => Answer::replace(entity.with(PROUD, value(SOURCE) - value(ASKED)))
                .with_state(format!("{} {}", value(SOURCE), value(ASKED))),
        }
    }
}

#[async_trait]
impl Stage<Thing> for Performer {
    fn id(&self) -> &str {
        self.kind.id()
    }

    fn interest(&self) -> Interest {
        self.kind.interest()
    }

    async fn should_process(&self, subject: &Subject<Thing>) -> Result<Schedule, StageError> {
        let ticket = self.world.call(self.call(What::Ask, subject));
        self.work().await;
        let price = subject.entity.values[PRICE];
        let schedule = match self.kind {
            Kind::Even if price % 2 == 0 => Schedule::No,
            Kind::Odd if price % 2 != 0 || self.world.is_calm() => Schedule::No,
            Kind::Even | Kind::Odd => Schedule::Now,
            _ if self.is_bad_day() => return Err(StageError::Passing("who knows".to_owned())),
            _ => match self.dice.within(0..3) {
                0 => Schedule::No,
                1 => Schedule::Now,
                _ => Schedule::At(subject.now + self.dice.ms(0..5000)),
            },
        };
        ticket.schedule(schedule);
        Ok(schedule)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        let ticket = self.world.call(self.call(What::Visit, subject));
        self.work().await;
        let answer = match self.kind {
            Kind::Shaky if self.is_bad_day() => Err(if self.dice.thousandths(self.lasting) {
                StageError::Lasting("never".to_owned())
            } else {
                StageError::Passing("not now".to_owned())
            }),
            Kind::Hanging if self.is_bad_day() => {
                self.world.fault("stage hangs", &self.instance, format_args!(""));
                std::future::pending().await
            }
            Kind::Panicky if self.is_bad_day() => {
                self.world.fault("stage panics", &self.instance, format_args!(""));
                drop(ticket);
                // A panic that prints nothing.
                std::panic::resume_unwind(Box::new("a simulated panic"));
            }
            _ => Ok(self.answer(subject)),
        };
        if answer.is_err() {
            self.world.fault("stage fails", &self.instance, format_args!(""));
        }
        ticket.finish(&Some(answer.clone()));
        answer
    }

    fn wants_saved(&self) -> bool {
        self.kind.wants_saved()
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        self.work().await;
        let answer = match self.dice.within(0..10) {
            _ if !self.is_bad_day() => Ok(()),
            0 => Err(StageError::Lasting("not interested".to_owned())),
            _ => Err(StageError::Passing("busy".to_owned())),
        };
        let heard = !matches!(answer, Err(StageError::Passing(_)));
        let saved =
            SavedCall { stage: self.kind.id(), entity: &saved.entity.id, version: saved.version, heard };
        self.world.saved(&self.instance, &saved);
        answer
    }
}
