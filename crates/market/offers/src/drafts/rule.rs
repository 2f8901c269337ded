//! Which draft an owner gets who asks for one: the three rules.

/// A draft as the rules see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Empty if it has none yet.
    pub category: String,
    /// When it was changed last, in milliseconds.
    pub updated_ms: i64,
}

/// Whose draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of the seller who is logged in.
    LoggedIn,
    /// That of the anonymous visitor.
    Anonymous,
}

/// What becomes of the drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// There is none: a new one is made.
    Make,
    /// This one is emptied and gets the category; its id stays. The other is erased.
    Reset(Whose),
    /// This one stays. The other is erased.
    Keep(Whose),
}

/// Decides: by the category that is asked for, if any, and by the drafts that there are.
#[must_use]
pub fn decide(category: Option<&str>, logged_in: Option<&Seen>, anonymous: Option<&Seen>) -> Decision {
    let fits = |draft: &Seen| category.is_none_or(|category| draft.category == category);
    match (logged_in, anonymous) {
        (None, None) => Decision::Make,
        (Some(mine), Some(other)) => match (fits(mine), fits(other)) {
            (false, false) => Decision::Reset(Whose::LoggedIn),
            (false, true) => Decision::Keep(Whose::Anonymous),
            // Of two that were changed at the same time, that of the seller.
            (true, true) if other.updated_ms > mine.updated_ms => Decision::Keep(Whose::Anonymous),
            (true, _) => Decision::Keep(Whose::LoggedIn),
        },
        (Some(mine), None) if fits(mine) => Decision::Keep(Whose::LoggedIn),
        (Some(_), None) => Decision::Reset(Whose::LoggedIn),
        (None, Some(other)) if fits(other) => Decision::Keep(Whose::Anonymous),
        (None, Some(_)) => Decision::Reset(Whose::Anonymous),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (Option<&'static str>, Option<(&'static str, i64)>, Option<(&'static str, i64)>, Decision);

    /// By the category that is asked for, the category and time of the seller's draft and of the anonymous one: what becomes of them. Every combination of
    /// "none, fits, does not fit" with "older, as old, newer".
    #[test]
    fn all_combinations_of_the_three_rules() {
        use Decision::{Keep, Make, Reset};
        use Whose::{Anonymous, LoggedIn};
        let draft = |seen: Option<(&str, i64)>| {
            seen.map(|(category, updated_ms)| Seen { category: category.to_owned(), updated_ms })
        };
        let table: &[Row] = &[
            // Nothing there.
            (None, None, None, Make),
            (Some("cars"), None, None, Make),
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
