//! Shares of the lines: the most urgent line goes first, but a line that waits is owed a part of
//! what the others take.

use crate::schedule::Line;

/// What each line of one stage is owed, in visits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    owed: [f64; Line::ALL.len()],
}

impl Shares {
    /// First the lines that are owed a visit, then by urgency.
    pub(crate) fn order(&self) -> [Line; Line::ALL.len()] {
        let mut lines = Line::ALL;
        // A stable sort keeps equal lines in the order of their urgency.
        lines.sort_by_key(|line| self.owed[*line as usize] < 1.0);
        lines
    }

    /// A line took `count` visits. `waits` tells which others have something to do, `share` the
    /// part of all visits that a line is owed.
    pub(crate) fn took(
        &mut self,
        line: Line,
        count: usize,
        waits: impl Fn(Line) -> bool,
        share: impl Fn(Line) -> f64,
    ) {
        for other in Line::ALL {
            let owed = &mut self.owed[other as usize];
            if other == line {
                // A call takes more than one visit: the rest is a debt, of at most one call.
                *owed = (*owed - count as f64).max(-(count as f64));
            } else if waits(other) {
                *owed += count as f64 * share(other);
            } else {
                *owed = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn share(line: Line) -> f64 {
        match line {
            Line::Fresh => 1.0,
            Line::Timer => 0.3,
            Line::Late | Line::Background => 0.1,
        }
    }

    fn visits(rounds: usize, batch: usize, waits: impl Fn(Line) -> bool + Copy) -> BTreeMap<Line, usize> {
        let (mut shares, mut visits) = (Shares::default(), BTreeMap::new());
        for _ in 0..rounds {
            let line = shares.order().into_iter().find(|line| waits(*line)).unwrap();
            shares.took(line, batch, waits, share);
            *visits.entry(line).or_default() += batch;
        }
        visits
    }

    #[test]
    fn every_line_gets_its_share_while_all_of_them_wait() {
        for batch in [1, 16] {
            let visits = visits(1000, batch, |_| true);
            let part = |line| visits[&line] as f64 / (1000 * batch) as f64;
            assert!((0.15..0.3).contains(&part(Line::Timer)), "{visits:?}");
            assert!((0.05..0.15).contains(&part(Line::Background)), "{visits:?}");
            assert!(part(Line::Fresh) > 0.5, "{visits:?}");
        }
    }

    #[test]
    fn a_line_that_waits_alone_has_everything() {
        assert_eq!(
            visits(100, 16, |line| line == Line::Background),
            BTreeMap::from([(Line::Background, 1600)])
        );
    }

    #[test]
    fn a_line_gathers_nothing_while_it_has_nothing_to_do() {
        let mut shares = Shares::default();
        (0..1000).for_each(|_| shares.took(Line::Fresh, 16, |_| false, share));
        assert_eq!(shares.order()[0], Line::Fresh);
    }
}
