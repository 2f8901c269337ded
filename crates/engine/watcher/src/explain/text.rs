//! Explanations as text.

use std::fmt;

use super::{Asking, Depth, Explanation, Failed, LastVisit, VisitReason, VisitStatus, Waits};
use crate::schedule::Blocked;

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "nothing is due"),
            Self::Busy => write!(f, "what is due is being visited by other stages"),
            Self::Calls => write!(f, "as many calls are under way as may be"),
            Self::Rate(until) => write!(f, "the rate is used up until {until}"),
            Self::Paused => write!(f, "the stage is paused"),
            Self::Down(probe) => write!(f, "the stage does not answer, it is probed at {probe}"),
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInterested => write!(f, "not interested"),
            Self::Until(time, _) => write!(f, "waiting until {time}"),
            Self::Visiting(_) => write!(f, "being visited right now"),
            Self::Due(_) => write!(f, "due, its turn is next"),
            Self::Busy(_, stage) => write!(f, "due, but {stage} is visiting it right now"),
            Self::Blocked(_, blocked) => write!(f, "due, but {blocked}"),
            Self::NoOwner(_) => write!(f, "due, but nobody serves its shard at the moment"),
            Self::Parked => write!(f, "parked until it is released or changes"),
        }
    }
}

/// One line for each stage.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = self.owner.as_deref().unwrap_or("nobody");
        writeln!(f, "version {}, shard {} served by {owner}", self.version, self.shard)?;
        if let Some(asking) = &self.asking {
            writeln!(f, "{asking}")?;
        }
        if let Some(slowed) = &self.slowed {
            writeln!(f, "{slowed}")?;
        }
        for (stage, status) in &self.stages {
            writeln!(f, "{stage}: {status}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.join(", ");
        match self.waits {
            Waits::Visiting(_) => write!(f, "stages are being asked about {fields} right now")?,
            _ => write!(f, "stages are to be asked about {fields}: {}", self.waits)?,
        }
        write!(f, ", since {}", self.since)?;
        self.error.as_ref().map_or(Ok(()), |error| write!(f, ", because of: {error}"))
    }
}

impl fmt::Display for VisitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.waits)?;
        if let Some(since) = self.since {
            write!(f, ", since {since}")?;
        }
        if let Some(why) = self.why {
            write!(f, ", because {why}")?;
        }
        if let Some(failed) = &self.failed {
            write!(f, ", after {failed}")?;
        }
        match &self.last {
            None => write!(f, "; never visited"),
            Some(last) => write!(f, "; {last}"),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempts, error } = self;
        let plural = if *attempts == 1 { "" } else { "s" };
        write!(f, "{attempts} failed attempt{plural}: {error}")
    }
}

impl fmt::Display for LastVisit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = match self.changed {
            Some(true) => "changed it",
            Some(false) => "left it as it was",
            None => "failed",
        };
        write!(f, "last visit at {} to version {} {result}", self.at, self.version)
    }
}

impl fmt::Display for VisitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "it changed",
            Self::Timer => "the stage asked for it",
            Self::Unsure => "the stage could not say whether it wants it",
            Self::Recrawl => "of the re-crawl",
            Self::Retry => "the attempt before failed",
            Self::Request => "somebody asked for it",
        })
    }
}

/// A depth that was not counted to its end reads "at least".
impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.more { "at least " } else { "" }, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::queue::Lane;
    use clock::Time;

    const AT: Time = Time::from_ms(1_700_000_000_000);

    fn status(waits: Waits) -> VisitStatus {
        VisitStatus { waits, since: None, why: None, failed: None, last: None }
    }

    #[test]
    fn an_explanation_has_a_line_for_everything_that_an_entity_waits_for() {
        let failed = Some(Failed { attempts: 1, error: "no permission".to_owned() });
        let last = Some(LastVisit { at: AT, version: 2, changed: None });
        let strict = VisitStatus {
            since: Some(AT),
            why: Some(VisitReason::Retry),
            failed,
            last,
            ..status(Waits::Parked)
        };
        let busy = |stage: &str| status(Waits::Busy(Lane::Fresh, stage.to_owned()));
        let stages = BTreeMap::from([
            ("a".to_owned(), status(Waits::Visiting(Lane::Fresh))),
            ("b".to_owned(), busy("a")),
            ("strict".to_owned(), strict),
        ]);
        let (waits, fields) = (Waits::Parked, vec!["price".to_owned()]);
        let asking = Some(Asking { waits, fields, since: AT, error: Some("it is damaged".to_owned()) });
        let explanation = Explanation { version: 3, shard: 1, owner: None, asking, slowed: None, stages };
        let lines = [
            "version 3, shard 1 served by nobody",
            "stages are to be asked about price: parked until it is released or changes, since 2023-11-14T22:13:20Z, because of: it is damaged",
            "a: being visited right now; never visited",
            "b: due, but a is visiting it right now; never visited",
            "strict: parked until it is released or changes, since 2023-11-14T22:13:20Z, because the attempt before failed, after 1 failed attempt: no permission; last visit at 2023-11-14T22:13:20Z to version 2 failed",
        ];
        assert_eq!(explanation.to_string().lines().collect::<Vec<_>>(), lines);
    }
}
