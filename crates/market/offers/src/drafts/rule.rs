//! The rules by which an owner with several drafts gets one.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftSummary {
    /// Empty if it is not known yet.
    pub category: String,
    pub updated_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftOwner {
    LoggedIn,
    Anonymous,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Create,
    /// Empty this draft, give it the category, keep its id; delete the other one.
    Reset(DraftOwner),
    /// Keep this draft and delete the other one.
    Keep(DraftOwner),
}

/// Decides by the requested category, if any, and the existing drafts.
#[must_use]
pub fn decide(
    category: Option<&str>,
    logged_in: Option<&DraftSummary>,
    anonymous: Option<&DraftSummary>,
) -> Decision {
    let fits = |draft: &DraftSummary| category.is_none_or(|category| draft.category == category);
    match (logged_in, anonymous) {
        (None, None) => Decision::Create,
        (Some(mine), Some(other)) => match (fits(mine), fits(other)) {
            (false, false) => Decision::Reset(DraftOwner::LoggedIn),
            (false, true) => Decision::Keep(DraftOwner::Anonymous),
            // If both were changed at the same time, the seller's.
            (true, true) if other.updated_ms > mine.updated_ms => Decision::Keep(DraftOwner::Anonymous),
            (true, _) => Decision::Keep(DraftOwner::LoggedIn),
        },
        (Some(mine), None) if fits(mine) => Decision::Keep(DraftOwner::LoggedIn),
        (Some(_), None) => Decision::Reset(DraftOwner::LoggedIn),
        (None, Some(other)) if fits(other) => Decision::Keep(DraftOwner::Anonymous),
        (None, Some(_)) => Decision::Reset(DraftOwner::Anonymous),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (Option<&'static str>, Option<(&'static str, i64)>, Option<(&'static str, i64)>, Decision);

    /// The requested category, category and time of the seller's and of the anonymous draft, the
    /// decision: every combination of "none, fits, does not fit" with "older, equal, newer".
    #[test]
    fn all_combinations_of_the_three_rules() {
        use Decision::{Create, Keep, Reset};
        use DraftOwner::{Anonymous, LoggedIn};
        let draft = |seen: Option<(&str, i64)>| {
            seen.map(|(category, updated_ms)| DraftSummary { category: category.to_owned(), updated_ms })
        };
        let table: &[Row] = &[
            // Nothing there.
            (None, None, None, Create),
            (Some("cars"), None, None, Create),
            // (a) a category that no draft has: the seller's is reset first.
            (Some("cars"), Some(("boats", 1)), None, Reset(LoggedIn)),
            (Some("cars"), None, Some(("boats", 1)), Reset(Anonymous)),
            (Some("cars"), Some(("boats", 1)), Some(("bikes", 2)), Reset(LoggedIn)),
            (Some("cars"), Some(("boats", 2)), Some(("bikes", 1)), Reset(LoggedIn)),
            (Some("cars"), Some(("", 1)), Some(("", 2)), Reset(LoggedIn)),
            (Some("cars"), Some(("", 1)), None, Reset(LoggedIn)),
            (Some("cars"), None, Some(("", 1)), Reset(Anonymous)),
            // (b) exactly one fits, whatever its age.
            (Some("cars"), Some(("cars", 1)), None, Keep(LoggedIn)),
            (Some("cars"), None, Some(("cars", 1)), Keep(Anonymous)),
            (Some("cars"), Some(("cars", 1)), Some(("bikes", 2)), Keep(LoggedIn)),
            (Some("cars"), Some(("cars", 2)), Some(("bikes", 1)), Keep(LoggedIn)),
            (Some("cars"), Some(("boats", 1)), Some(("cars", 2)), Keep(Anonymous)),
            (Some("cars"), Some(("boats", 2)), Some(("cars", 1)), Keep(Anonymous)),
            // (c) both fit: the newest.
            (Some("cars"), Some(("cars", 1)), Some(("cars", 2)), Keep(Anonymous)),
            (Some("cars"), Some(("cars", 2)), Some(("cars", 1)), Keep(LoggedIn)),
            (Some("cars"), Some(("cars", 2)), Some(("cars", 2)), Keep(LoggedIn)),
            // (c) no category: the newest, whatever it is.
            (None, Some(("cars", 1)), None, Keep(LoggedIn)),
            (None, None, Some(("", 1)), Keep(Anonymous)),
            (None, Some(("cars", 1)), Some(("bikes", 2)), Keep(Anonymous)),
            (None, Some(("cars", 2)), Some(("bikes", 1)), Keep(LoggedIn)),
            (None, Some(("cars", 2)), Some(("cars", 2)), Keep(LoggedIn)),
        ];
        for (category, logged_in, anonymous, expected) in table {
            let decided = decide(*category, draft(*logged_in).as_ref(), draft(*anonymous).as_ref());
            assert_eq!(decided, *expected, "{category:?}, {logged_in:?}, {anonymous:?}");
        }
    }
}
