//! Collects checks that a process refuses to this caller: their state is unknown, neither good nor
//! bad.

use std::collections::BTreeSet;

use connectrpc::{ConnectError, ErrorCode};

use super::finding::{Area, Finding};
use crate::remote::said;
use terminal::errors::told;

/// Areas that were not checked because the process requires authentication or denies this caller
/// access.
#[derive(Debug, Default)]
pub(super) struct Closed {
    areas: BTreeSet<Area>,
    /// The error of the process, and its hint.
    said: Option<(String, Option<String>)>,
}

impl Closed {
    /// Notes these areas if the call was refused for lack of access. Returns whether it was.
    pub(super) fn keeps(&mut self, error: &ConnectError, areas: &[Area]) -> bool {
        let is_closed = matches!(error.code, ErrorCode::Unauthenticated | ErrorCode::PermissionDenied);
        if is_closed {
            self.areas.extend(areas);
            self.said.get_or_insert_with(|| told(&said(error)));
        }
        is_closed
    }

    /// One warning for all areas.
    pub(super) fn finding(self) -> Option<Finding> {
        let (why, remedy) = self.said?;
        let names: Vec<String> = self.areas.iter().map(ToString::to_string).collect();
        let names = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => return None,
        };
        let what = format!("{names} were not looked at: {why}");
        Some(Finding::warning(Area::Process, what, remedy.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_keeps_to_itself_is_one_warning_with_what_to_do() {
        let mut closed = Closed::default();
        let broken = ConnectError::new(ErrorCode::Internal, "broken");
        assert!(!closed.keeps(&broken, &[Area::Topics]));
        let stranger = ConnectError::new(ErrorCode::Unauthenticated, "this needs a bearer token");
        assert!(closed.keeps(&stranger, &[Area::Topics]));
        assert!(closed.keeps(&stranger, &[Area::Tasks, Area::Stages]));
        let warning = closed.finding().unwrap();
        let what = "topics, stages and tasks were not looked at: this needs a bearer token";
        assert_eq!((warning.area, &*warning.what), (Area::Process, what));
        assert!(warning.remedy.contains("TORG_TOKEN"), "{warning:?}");
        assert_eq!(Closed::default().finding(), None);
    }
}
