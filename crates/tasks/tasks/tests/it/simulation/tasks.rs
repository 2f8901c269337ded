//! Tasks by chance, as a task file and as an evaluation of their own that knows nothing of how
//! triggers are evaluated elsewhere.
//!
//! A task only waits on what comes from outside and on what tasks with smaller numbers set, so that
//! nothing runs in circles; and every way to fire needs something that a success uses up.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wire::torg::tasks::v1::{SeenValue, seen_value};

use crate::simulation::dice::Dice;

/// Values that come from outside: numbers, and moments.
pub(crate) const NUMBERS: usize = 4;
pub(crate) const MOMENTS: usize = 2;
pub(crate) const TASKS: usize = 8;
const DAY_MS: i64 = 86_400_000;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    Number(i64),
    /// In milliseconds.
    Moment(i64),
}

/// Values by parameter.
pub(crate) type Seen = BTreeMap<String, Known>;

pub(crate) fn known(value: &SeenValue) -> Option<Known> {
    Some(match value.kind.as_ref()? {
        seen_value::Kind::Number(number) => Known::Number(*number),
        seen_value::Kind::Time(time) => {
            Known::Moment(time.seconds * 1000 + i64::from(time.nanos) / 1_000_000)
        }
    })
}

pub(crate) fn seen(values: &BTreeMap<String, SeenValue>) -> Seen {
    values.iter().filter_map(|(of, value)| Some((of.clone(), known(value)?))).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Grew { of: String, by: i64 },
    GrewHours { of: String, by: i64 },
    NewDay { of: String },
    CaughtUp { of: String, with: String, within: i64 },
}

impl Leaf {
    fn parameters(&self) -> Vec<&String> {
        match self {
            Self::Grew { of, .. } | Self::GrewHours { of, .. } | Self::NewDay { of } => vec![of],
            Self::CaughtUp { of, with, .. } => vec![of, with],
        }
    }

    fn is_delta(&self) -> bool {
        !matches!(self, Self::CaughtUp { .. })
    }

    /// By the book: no value is no reason, nothing remembered is one, and what has moved back is
    /// none.
    fn holds(&self, current: &Seen, remembered: &Seen) -> bool {
        let grown =
            |of: &String, enough: &dyn Fn(i64, i64) -> bool| match (current.get(of), remembered.get(of)) {
                (Some(_), None) => true,
                (Some(Known::Number(now)), Some(Known::Number(last)))
                | (Some(Known::Moment(now)), Some(Known::Moment(last))) => now >= last && enough(*last, *now),
                _ => false,
            };
        match self {
            Self::Grew { of, by } => grown(of, &|last, now| now - last >= *by),
            Self::GrewHours { of, by } => grown(of, &|last, now| now - last >= by * 3_600_000),
            Self::NewDay { of } => grown(of, &|last, now| now.div_euclid(DAY_MS) > last.div_euclid(DAY_MS)),
            Self::CaughtUp { of, with, within } => match (current.get(of), current.get(with)) {
                (Some(Known::Number(of)), Some(Known::Number(with))) => with - of <= *within,
                _ => false,
            },
        }
    }

    fn yaml(&self) -> String {
        match self {
            Self::Grew { of, by } => format!("{{grew: {{of: {of}, by: {by}}}}}"),
            Self::GrewHours { of, by } => format!("{{grew: {{of: {of}, by: {by}h}}}}"),
            Self::NewDay { of } => format!("{{new_day: {of}}}"),
            Self::CaughtUp { of, with, within } => {
                format!("{{caught_up: {{of: {of}, with: {with}, within: {within}}}}}")
            }
        }
    }
}

/// Groups of several leaves in an `all` are an `any`, and the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) all: bool,
    pub(crate) groups: Vec<Vec<Leaf>>,
}

impl When {
    pub(crate) fn holds(&self, current: &Seen, remembered: &Seen) -> bool {
        let leaf = |leaf: &Leaf| leaf.holds(current, remembered);
        if self.all {
            self.groups.iter().all(|group| group.iter().any(leaf))
        } else {
            self.groups.iter().any(|group| group.iter().all(leaf))
        }
    }

    pub(crate) fn parameters(&self) -> BTreeSet<&String> {
        self.groups.iter().flatten().flat_map(Leaf::parameters).collect()
    }

    fn yaml(&self) -> String {
        let (outer, inner) = if self.all { ("all", "any") } else { ("any", "all") };
        let group = |leaves: &Vec<Leaf>| match leaves.as_slice() {
            [leaf] => leaf.yaml(),
            several => {
                format!("{{{inner}: [{}]}}", several.iter().map(Leaf::yaml).collect::<Vec<_>>().join(", "))
            }
        };
        match self.groups.as_slice() {
            [group_of_one] if group_of_one.len() == 1 => group_of_one[0].yaml(),
            groups => format!("{{{outer}: [{}]}}", groups.iter().map(group).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// What a success sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Seen(String),
    Number(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) when: When,
    pub(crate) priority: u64,
    pub(crate) pool: Option<&'static str>,
    pub(crate) sets: Option<(String, To)>,
    pub(crate) hold_back: u64,
    pub(crate) attempts: u64,
    pub(crate) timeout: u64,
    pub(crate) paused: bool,
    pub(crate) max_silence: Option<u64>,
}

impl Task {
    /// What a success sets that saw these values.
    pub(crate) fn writes(&self, seen: &Seen) -> Seen {
        let value = |to: &To| match to {
            To::Seen(of) => seen.get(of).copied(),
            To::Number(number) => Some(Known::Number(*number)),
        };
        self.sets.iter().filter_map(|(of, to)| Some((of.clone(), value(to)?))).collect()
    }

    /// A task with this number. Its pool and the kind of what it sets are always the same.
    fn of(dice: &Dice, number: usize) -> Self {
        let numbers: Vec<String> =
            (0..NUMBERS).map(number_name).chain((0..number).map(output_name)).collect();
        let delta = || match dice.within(0..10) {
            0..7 => Leaf::Grew { of: dice.one_of(&numbers).clone(), by: dice.number(1..4) },
            7 => Leaf::GrewHours {
                of: moment_name(dice.within(0..MOMENTS as u64) as usize),
                by: dice.number(1..20),
            },
            _ => Leaf::NewDay { of: moment_name(dice.within(0..MOMENTS as u64) as usize) },
        };
        let any = || {
            let (of, with) = (dice.one_of(&numbers).clone(), dice.one_of(&numbers).clone());
            if dice.percent(30) && of != with {
                Leaf::CaughtUp { of, with, within: dice.number(0..30) }
            } else {
                delta()
            }
        };
        let when = match dice.within(0..5) {
            0 | 1 => When { all: true, groups: vec![vec![delta()]] },
            2 => When { all: true, groups: vec![vec![delta()], vec![any()]] },
            3 => When { all: true, groups: vec![vec![delta()], vec![any(), any()]] },
            _ => When { all: false, groups: vec![vec![delta()], vec![delta(), any()]] },
        };
        let source = when.groups.iter().flatten().find_map(|leaf| match leaf {
            Leaf::Grew { of, .. } => Some(To::Seen(of.clone())),
            _ => None,
        });
        let to = source.unwrap_or_else(|| To::Number(dice.number(0..50)));
        Self {
            when,
            priority: dice.within(0..3),
            pool: [None, Some("narrow"), Some("wide")][number % 3],
            sets: (number + 1 < TASKS && dice.percent(70)).then(|| (output_name(number), to)),
            hold_back: [0, 0, 5, 20][dice.within(0..4) as usize],
            attempts: if dice.percent(20) { 2 } else { 1000 },
            timeout: [10, 25, 40][dice.within(0..3) as usize],
            paused: dice.percent(5),
            max_silence: dice.percent(30).then(|| dice.within(60..300)),
        }
    }

    fn yaml(&self, name: &str) -> String {
        let mut text = format!("  {name}:\n    when: {}\n", self.when.yaml());
        let _ = writeln!(text, "    run: {{shell: ./{name}.sh, timeout: {}s}}", self.timeout);
        let _ = writeln!(text, "    retry: {{first: 1s, most: 8s, attempts: {}}}", self.attempts);
        let _ = writeln!(text, "    priority: {}\n    hold_back: {}s", self.priority, self.hold_back);
        let _ = writeln!(text, "    paused: {}", self.paused);
        self.pool.iter().for_each(|pool| _ = writeln!(text, "    pool: {pool}"));
        self.max_silence.iter().for_each(|silence| _ = writeln!(text, "    max_silence: {silence}s"));
        if let Some((of, to)) = &self.sets {
            let _ = match to {
                To::Seen(seen) => writeln!(text, "    sets: {{{of}: {seen}}}"),
                To::Number(number) => writeln!(text, "    sets: {{{of}: {number}}}"),
            };
        }
        text
    }
}

/// A task file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deck {
    pub(crate) running: u64,
    pub(crate) pools: BTreeMap<&'static str, u64>,
    pub(crate) tasks: BTreeMap<String, Task>,
}

impl Deck {
    pub(crate) fn of(dice: &Dice) -> Self {
        let tasks =
            (0..TASKS).filter(|_| dice.percent(85)).map(|number| (task_name(number), Task::of(dice, number)));
        let tasks = tasks.collect();
        Self { running: dice.within(2..6), pools: [("narrow", 1), ("wide", 2)].into(), tasks }
    }

    /// The same with some other tasks: one that goes, comes, or is another one.
    pub(crate) fn changed(&self, dice: &Dice) -> Self {
        let mut deck = self.clone();
        for _ in 0..dice.within(1..4) {
            let number = dice.within(0..TASKS as u64) as usize;
            if deck.tasks.remove(&task_name(number)).is_none() || dice.percent(60) {
                deck.tasks.insert(task_name(number), Task::of(dice, number));
            }
        }
        if dice.percent(30) {
            deck.running = dice.within(2..6);
        }
        deck
    }

    pub(crate) fn yaml(&self) -> String {
        let pools: Vec<String> = self.pools.iter().map(|(pool, limit)| format!("{pool}: {limit}")).collect();
        let mut text = format!("limits: {{running: {}, pools: {{{}}}}}\n", self.running, pools.join(", "));
        text.push_str(if self.tasks.is_empty() { "tasks: {}\n" } else { "tasks:\n" });
        self.tasks.iter().for_each(|(name, task)| text.push_str(&task.yaml(name)));
        text
    }
}

pub(crate) fn task_name(number: usize) -> String {
    format!("task{number}")
}

pub(crate) fn number_name(number: usize) -> String {
    format!("input{number}.rows")
}

pub(crate) fn moment_name(number: usize) -> String {
    format!("input{number}.loaded_to")
}

pub(crate) fn output_name(number: usize) -> String {
    format!("output{number}.rows")
}

/// Whether a leaf of this task compares the parameter with what is remembered.
pub(crate) fn is_delta(task: &Task, of: &str) -> bool {
    let deltas = task.when.groups.iter().flatten().filter(|leaf| leaf.is_delta());
    deltas.flat_map(|leaf| leaf.parameters()).any(|parameter| parameter == of)
}
