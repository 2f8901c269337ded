//! What can be said of a trigger without values: its parameters, and whether it may loop or never
//! fire.

use std::collections::BTreeSet;
use std::str::FromStr;

use jiff::SignedDuration;

use crate::duration::parse_duration;
use crate::error::{Error, Result};
use crate::limits::{DAY_MINUTES, LEAVES_MAX, NAME_BYTES_MAX};
use crate::trigger::{Amount, Check, Group, Leaf, Path, Scale, Trigger};
use crate::value::Parameter;

impl Trigger {
    #[must_use]
    pub fn parameters(&self) -> BTreeSet<&Parameter> {
        self.leaves().flat_map(|(_, leaf)| std::iter::once(&leaf.of).chain(leaf.reference())).collect()
    }

    /// Whether its verdict may change although no value changes.
    #[must_use]
    pub fn time_dependent(&self) -> bool {
        self.leaves().any(|(_, leaf)| leaf.check.is_time_dependent())
    }

    /// The leaves because of which the trigger may never fire. `None`: some way to fire consists of
    /// `Delta` leaves alone, and those become true as the data grows. Otherwise every way needs a
    /// leaf that only compares how far a value is behind, which may never hold again: such a task
    /// should be monitored.
    #[must_use]
    pub fn may_never_fire(&self) -> Option<Vec<&Leaf>> {
        let unsure = |leaf: &Leaf| !leaf.check.is_delta();
        if self.path_of(|leaf| !unsure(leaf)).is_some() {
            return None;
        }
        Some(self.leaves().map(|(_, leaf)| leaf).filter(|leaf| unsure(leaf)).collect())
    }

    /// The leaves of a way to fire that stays open after a successful run: none of them compares
    /// with the remembered value, so the task would run again at once. A `Delta` by zero stays open
    /// too. `None`: there is no such way.
    #[must_use]
    pub fn may_loop(&self) -> Option<Vec<&Leaf>> {
        self.path_of(|leaf| !leaf.check.closes_on_success())
    }

    fn path_of(&self, belongs: impl Fn(&Leaf) -> bool) -> Option<Vec<&Leaf>> {
        let whole = |leaves: &'_ [Leaf]| !leaves.is_empty() && leaves.iter().all(&belongs);
        match self {
            Self::Leaf(leaf) => belongs(leaf).then(|| vec![leaf]),
            Self::All(groups) if groups.is_empty() => None,
            Self::All(groups) => {
                groups.iter().map(|group| group.leaves().iter().find(|leaf| belongs(leaf))).collect()
            }
            Self::Any(groups) => groups
                .iter()
                .map(Group::leaves)
                .find(|leaves| whole(leaves))
                .map(|leaves| leaves.iter().collect()),
        }
    }

    /// Refuses empty aggregates, too many leaves, chunks that do not divide a day, growth by zero,
    /// a negative delay, and a parameter that is compared with itself.
    pub fn validate(&self) -> Result<()> {
        if let Self::All(groups) | Self::Any(groups) = self {
            if groups.is_empty() {
                return Err(Error::EmptyAggregate { place: None });
            }
            if let Some(place) = groups.iter().position(|group| group.leaves().is_empty()) {
                let aggregate = self.aggregate();
                let place = Path { member: aggregate.map(|aggregate| (aggregate, place)), inner: None };
                return Err(Error::EmptyAggregate { place: Some(place) });
            }
        }
        let count = self.leaves().count();
        if count > LEAVES_MAX {
            return Err(Error::TooManyLeaves { count });
        }
        self.leaves().try_for_each(|(place, leaf)| leaf.validate(place))
    }
}

impl Leaf {
    fn validate(&self, place: Path) -> Result<()> {
        if self.reference() == Some(&self.of) {
            return Err(Error::WithItself { place, parameter: self.of.clone() });
        }
        self.check.validate(place)
    }
}

impl Check {
    #[must_use]
    pub const fn is_time_dependent(&self) -> bool {
        matches!(self, Self::Delay { .. } | Self::ChunkDelay { .. })
    }

    #[must_use]
    pub const fn is_delta(&self) -> bool {
        matches!(self, Self::Delta { .. } | Self::ChunkDelta { .. })
    }

    #[must_use]
    pub const fn scale(&self) -> Option<Scale> {
        match *self {
            Self::ChunkDelta { scale, .. }
            | Self::ChunkDelay { scale, .. }
            | Self::ChunkRefDelay { scale, .. } => Some(scale),
            _ => None,
        }
    }

    /// Whether it no longer holds right after a successful run.
    fn closes_on_success(&self) -> bool {
        match self {
            Self::Delta { by } => by.is_positive(),
            Self::ChunkDelta { by, .. } => *by != Some(0),
            _ => false,
        }
    }

    fn validate(&self, place: Path) -> Result<()> {
        if let Some(Scale::Minutes(minutes)) = self.scale() {
            Scale::minutes(minutes)?;
        }
        let refuse = |threshold: String, needed| Err(Error::Threshold { place, threshold, needed });
        match self {
            Self::Delta { by } if !by.is_positive() => refuse(by.to_string(), "above zero"),
            Self::ChunkDelta { by: Some(0), .. } => refuse("0".to_owned(), "above zero"),
            Self::Delay { within } if within.is_negative() => {
                refuse(Amount::Time(*within).to_string(), "zero or above")
            }
            Self::RefDelay { within, .. } if within.is_negative() => {
                refuse(within.to_string(), "zero or above")
            }
            _ => Ok(()),
        }
    }
}

impl Amount {
    fn is_positive(self) -> bool {
        match self {
            Self::Time(time) => time > SignedDuration::ZERO,
            Self::Number(number) => number > 0,
        }
    }

    fn is_negative(self) -> bool {
        match self {
            Self::Time(time) => time.is_negative(),
            Self::Number(number) => number < 0,
        }
    }
}

impl Scale {
    pub fn minutes(minutes: u16) -> Result<Self> {
        if minutes == 0 || !DAY_MINUTES.is_multiple_of(minutes) {
            return Err(Error::Minutes { minutes });
        }
        Ok(Self::Minutes(minutes))
    }
}

/// Reads `day` and `30m`, and what `Display` writes: `30m chunk`.
impl FromStr for Scale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = match text.trim() {
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "month" => Self::Month,
            "year" => Self::Year,
            other => {
                let refuse = || Error::Scale { text: text.chars().take(NAME_BYTES_MAX).collect() };
                let length = other.strip_suffix(" chunk").unwrap_or(other);
                let length = parse_duration(length).map_err(|_| refuse())?;
                let whole = length.as_secs() % 60 == 0 && length.subsec_nanos() == 0;
                let minutes = whole.then(|| u16::try_from(length.as_mins()).ok()).flatten();
                return Self::minutes(minutes.ok_or_else(refuse)?);
            }
        };
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_read_as_they_are_shown() {
        let named = [Scale::Hour, Scale::Day, Scale::Week, Scale::Month, Scale::Year];
        for scale in named.into_iter().chain([1, 15, 60, 720].map(Scale::Minutes)) {
            assert_eq!(scale.to_string().parse(), Ok(scale));
        }
        assert_eq!("15m".parse(), Ok(Scale::Minutes(15)));
        assert_eq!("7m".parse::<Scale>(), Err(Error::Minutes { minutes: 7 }));
        for wrong in ["", "days", "90s", "100d", "fortnight"] {
            assert!(matches!(wrong.parse::<Scale>(), Err(Error::Scale { .. })), "{wrong}");
        }
    }

    fn leaf(check: Check) -> Leaf {
        Leaf { of: "sales.loaded_to".parse().unwrap(), check }
    }

    fn grew() -> Leaf {
        leaf(Check::Delta { by: Amount::Number(5) })
    }

    fn new_day() -> Leaf {
        leaf(Check::ChunkDelta { scale: Scale::Day, by: None })
    }

    fn fresh() -> Leaf {
        leaf(Check::Delay { within: SignedDuration::from_hours(3) })
    }

    fn caught_up() -> Leaf {
        let with = "orders.loaded_to".parse().unwrap();
        leaf(Check::RefDelay { with, within: Amount::Time(SignedDuration::from_hours(1)) })
    }

    fn one(leaf: Leaf) -> Group {
        Group::Leaf(leaf)
    }

    /// Whether the trigger may never fire, and whether it may loop.
    fn warnings(trigger: &Trigger) -> (Option<Vec<Leaf>>, Option<Vec<Leaf>>) {
        let owned = |leaves: Option<Vec<&Leaf>>| leaves.map(|leaves| leaves.into_iter().cloned().collect());
        (owned(trigger.may_never_fire()), owned(trigger.may_loop()))
    }

    #[test]
    fn growth_alone_neither_loops_nor_waits_for_ever() {
        assert_eq!(warnings(&Trigger::Leaf(new_day())), (None, None));
        assert_eq!(warnings(&Trigger::All(vec![one(grew()), one(new_day())])), (None, None));
        assert_eq!(
            warnings(&Trigger::Any(vec![one(grew()), Group::Of(vec![new_day(), grew()])])),
            (None, None)
        );
    }

    #[test]
    fn a_delay_alone_may_never_fire_and_may_loop() {
        assert_eq!(warnings(&Trigger::Leaf(fresh())), (Some(vec![fresh()]), Some(vec![fresh()])));
    }

    #[test]
    fn growth_beside_a_delay_closes_the_loop_but_may_never_fire() {
        let trigger = Trigger::All(vec![one(new_day()), one(fresh()), one(caught_up())]);
        assert_eq!(warnings(&trigger), (Some(vec![fresh(), caught_up()]), None));
    }

    #[test]
    fn one_way_without_growth_is_enough_for_a_loop_and_one_of_growth_is_enough_to_fire() {
        let trigger = Trigger::Any(vec![one(grew()), Group::Of(vec![fresh(), caught_up()])]);
        assert_eq!(warnings(&trigger), (None, Some(vec![fresh(), caught_up()])));
        let trigger = Trigger::All(vec![one(fresh()), Group::Of(vec![grew(), caught_up()])]);
        assert_eq!(warnings(&trigger), (Some(vec![fresh(), caught_up()]), Some(vec![fresh(), caught_up()])));
        let trigger = Trigger::All(vec![one(grew()), Group::Of(vec![new_day(), fresh()])]);
        assert_eq!(warnings(&trigger), (None, None));
    }

    #[test]
    fn growth_by_nothing_does_not_close_a_loop() {
        for check in [
            Check::Delta { by: Amount::Number(0) },
            Check::Delta { by: Amount::Time(SignedDuration::ZERO) },
            Check::ChunkDelta { scale: Scale::Day, by: Some(0) },
        ] {
            assert!(Trigger::Leaf(leaf(check)).may_loop().is_some());
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        let zero = leaf(Check::Delta { by: Amount::Number(0) });
        let below = leaf(Check::Delay { within: SignedDuration::from_hours(-1) });
        let seven = leaf(Check::ChunkDelay { scale: Scale::Minutes(7), within: None });
        let own = "sales.loaded_to".parse().unwrap();
        let itself = leaf(Check::ChunkRefDelay { with: own, scale: Scale::Day, within: None });
        for (trigger, message) in [
            (Trigger::All(vec![]), "there is no condition: an aggregate needs at least one"),
            (
                Trigger::Any(vec![one(grew()), Group::Of(vec![])]),
                "there is no condition at any[1]: an aggregate",
            ),
            (Trigger::All(vec![one(zero)]), "the threshold at all[0] is 0: it must be above zero"),
            (Trigger::Leaf(below), "the threshold is -1h: it must be zero or above"),
            (
                Trigger::Leaf(seven),
                "chunks of 7 minutes do not divide a day: take one of 1, 2, 3, 4, 5, 6, 8,",
            ),
            (
                Trigger::All(vec![Group::Of(vec![grew(), itself])]),
                "sales.loaded_to is compared with itself at all[0].any[1]",
            ),
            (
                Trigger::All(vec![one(grew()); 257]),
                "257 conditions are too many for one trigger: at most 256",
            ),
        ] {
            let shown = trigger.validate().map_err(|error| error.to_string());
            assert!(shown.as_ref().is_err_and(|shown| shown.starts_with(message)), "{shown:?}");
        }
        assert_eq!(Trigger::All(vec![one(grew()), Group::Of(vec![fresh()])]).validate(), Ok(()));
    }

    #[test]
    fn references_are_parameters_too_and_only_delays_depend_on_the_time() {
        let trigger = Trigger::Any(vec![one(caught_up()), Group::Of(vec![new_day()])]);
        let names: Vec<String> = trigger.parameters().into_iter().map(ToString::to_string).collect();
        assert_eq!(names, ["orders.loaded_to", "sales.loaded_to"]);
        assert!(!trigger.time_dependent());
        assert!(Trigger::Any(vec![one(grew()), Group::Of(vec![fresh()])]).time_dependent());
    }
}
