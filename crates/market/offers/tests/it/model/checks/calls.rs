//! A call that was acknowledged had exactly one effect, however often it was made; one that was
//! refused had none.
//!
//! Only a call whose caller went away is open. No error leaves it open: the store answers a commit
//! when it knows what became of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::client::is_failure;
use crate::model::evidence::{Evidence, shown};
use crate::model::journal::{Answer, Asked, Called, Token};

use super::effects::Effects;

pub(crate) fn check(evidence: &Evidence, effects: &Effects, may_fail: bool) {
    let mut by_token: BTreeMap<Token, Vec<&Called>> = BTreeMap::new();
    for call in &evidence.notes.calls {
        if !matches!(call.asked, Asked::Publish { .. }) {
            by_token.entry(call.token).or_default().push(call);
        }
    }
    for (token, calls) in &by_token {
        let is_done = calls.iter().any(|call| matches!(call.answer, Answer::Done(_)));
        let is_open = calls.iter().any(|call| matches!(call.answer, Answer::Open));
        let effect = effects.get(token);
        assert!(effect.is_some() || !is_done, "calls: {token} was acknowledged and has no effect: {calls:?}");
        assert!(
            effect.is_none() || is_done || is_open,
            "calls: {token} was refused and has an effect: {calls:?}"
        );
        for call in calls {
            answered(evidence, effects, call);
        }
    }
    for call in &evidence.notes.calls {
        if let Answer::Refused(error) = &call.answer {
            assert!(
                may_fail || !matches!(error, offers::Error::Store(_) | offers::Error::Watcher(_)),
                "calls: {error}"
            );
            assert!(is_failure(error) || is_refusal(call), "calls: {call:?} is refused like this");
        }
    }
    let drifted: Vec<_> = evidence.notes.repairs.iter().filter(|(_, drifts)| !drifts.is_empty()).collect();
    assert!(drifted.is_empty(), "calls: counts had drifted: {drifted:?}");
    billing(evidence);
}

/// An answer is a version of the offer that the call has changed: the one that it made, or a later
/// one if it was made again.
fn answered(evidence: &Evidence, effects: &Effects, call: &Called) {
    let Answer::Done(offer) = &call.answer else { return };
    let (id, version) = effects[&call.token];
    assert_eq!(offer.id, id.to_string(), "calls: {call:?} answers with another offer");
    assert!(call.target.is_none_or(|target| target == id), "calls: {call:?} changed {id}");
    assert!(
        offer.version == version || (call.keyed && offer.version > version),
        "calls: {call:?} made v{version} and answers with v{}",
        offer.version
    );
    if !call.keyed
        && let Some(expected) = call.expected
    {
        assert_eq!(expected + 1, version, "calls: {call:?} expected another version");
    }
    let told = &evidence.versions[&id][offer.version as usize - 1];
    assert_eq!(**offer, shown(told), "calls: {call:?} answers with what never was");
}

/// Whether a call can be refused like this, whatever the offer is.
fn is_refusal(call: &Called) -> bool {
    use offers::Error::{Closed, ExternalTaken, Invalid, NoDraft, NotMoved, OtherVersion};
    let Answer::Refused(error) = &call.answer else { return false };
    match &call.asked {
        Asked::Create { .. } => matches!(error, ExternalTaken { .. }),
        Asked::Publish { .. } => matches!(error, NoDraft(_) | Invalid(_)),
        Asked::Update { .. } => matches!(error, Closed(..) | OtherVersion { .. }),
        Asked::Move { .. } => {
            matches!(error, Closed(..) | OtherVersion { .. } | NotMoved { .. } | ExternalTaken { .. })
        }
    }
}

/// Of billing, no version was made twice.
fn billing(evidence: &Evidence) {
    for (id, kept) in &evidence.notes.billing {
        let versions: BTreeSet<u64> = kept.iter().map(|billing| billing.version).collect();
        let all: BTreeSet<u64> = (1..=kept.len() as u64).collect();
        assert_eq!(versions, all, "calls: billing of {id}");
    }
}
