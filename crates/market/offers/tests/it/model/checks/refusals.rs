//! A call is refused only for a reason that was there while it was made.

use offers::{Error, NotMoved};
use wire::torg::offers::v1::Status;

use crate::model::evidence::Evidence;
use crate::model::journal::{Answer, Asked, Called};
use crate::model::rules::{Who, may_move};

use super::effects::Effects;
use super::moves::{Standings, VisitStatus};

pub(crate) fn check(evidence: &Evidence, effects: &Effects, standings: &Standings) {
    for call in &evidence.notes.calls {
        let (Answer::Refused(error), Some(id)) = (&call.answer, call.target) else { continue };
        let (from, mut to) = call.between;
        // A call that was done already is not refused because of what it did itself.
        if let Some((_, version)) = effects.get(&call.token) {
            to = to.min(version - 1);
        }
        let (from, to) = (from.max(1), to.min(standings[&id].len() as u64));
        let mut seen = (from..=to).map(|version| (version, standings[&id][version as usize - 1]));
        let is_justified = match error {
            Error::NotMoved { why: NotMoved::BanStands, .. } => {
                seen.any(|(_, standing)| standing.before_ban.is_some() && table_allows(call, standing))
            }
            Error::NotMoved { why: NotMoved::Forbidden(_), .. } => {
                seen.any(|(_, standing)| !table_allows(call, standing))
            }
            Error::Closed(_, status) => {
                seen.any(|(_, standing)| standing.status == *status && is_closed(call, *status))
            }
            Error::OtherVersion { expected, actual, .. } => {
                expected != actual && seen.any(|(version, _)| version == *actual)
            }
            _ => continue,
        };
        let standings = &standings[&id];
        assert!(
            is_justified,
            "refusals: nothing speaks for it between v{from} and v{to}: {call:?}\n{standings:?}"
        );
    }
}

fn table_allows(call: &Called, standing: VisitStatus) -> bool {
    let Asked::Move { to, .. } = call.asked else { return false };
    may_move(Who::Seller, standing.status, to)
}

fn is_closed(call: &Called, status: Status) -> bool {
    let is_update = matches!(call.asked, Asked::Update { .. });
    status == Status::Archived || (is_update && status == Status::Removed)
}
