//! Checks clock skew between this machine and another one.

use super::finding::{Area, Finding};
use super::limits::{CLOCK_ERROR_MS, CLOCK_WARNING_MS};

/// One comparison of a remote clock with the local clock, in milliseconds. The local clock is read
/// before the request and after the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) theirs: i64,
    /// The resolution of the remote clock.
    pub(super) step: i64,
    pub(super) before: i64,
    pub(super) after: i64,
}

impl Reading {
    /// The minimal offset of the remote clock; negative if it is behind. The round trip and the
    /// resolution of the remote clock are allowed for.
    fn ahead(self) -> i64 {
        let Reading { theirs, step, before, after } = self;
        if theirs > after { theirs - after } else { (theirs + step - before).min(0) }
    }
}

pub(super) fn judge(whose: &str, reading: Reading) -> Finding {
    let ahead = reading.ahead();
    let apart = ahead.abs();
    if apart < CLOCK_WARNING_MS {
        return Finding::ok(Area::Clock, format!("the clock of {whose} agrees with the one here"));
    }
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let seconds = apart as f64 / 1000.0;
    let what = format!("the clock of {whose} is {seconds:.1} s {side} the one here");
    let remedy = "have both machines follow a time server (chrony, systemd-timesyncd)";
    if apart < CLOCK_ERROR_MS {
        Finding::warning(Area::Clock, what, remedy)
    } else {
        Finding::error(Area::Clock, what, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn only_what_the_way_of_the_question_does_not_explain_is_a_difference() {
        let reading = |theirs| Reading { theirs, step: 1000, before: 10_000, after: 10_500 };
        for (theirs, ahead) in [(9_000, 0), (10_500, 0), (10_600, 100), (8_900, -100), (0, -9_000)] {
            assert_eq!(reading(theirs).ahead(), ahead, "{theirs}");
        }
    }

    #[test]
    fn clocks_that_differ_are_told_with_the_side_and_what_to_do() {
        let judged =
            |theirs| judge("the store", Reading { theirs, step: 1, before: 100_000, after: 100_000 });
        assert_eq!(judged(101_000).severity, Severity::Ok);
        let ahead = judged(105_000);
        assert_eq!(ahead.severity, Severity::Warning);
        assert_eq!(ahead.what, "the clock of the store is 5.0 s ahead of the one here");
        let behind = judged(20_000);
        assert_eq!(behind.severity, Severity::Error);
        assert!(behind.what.contains("80.0 s behind") && behind.remedy.contains("time server"), "{behind:?}");
    }
}
