//! A draft becomes one offer, however often it is published, with the last content of the draft.

use std::collections::BTreeMap;

use offers::{Error, OfferId};

use crate::model::evidence::{Evidence, token_after};
use crate::model::journal::{Answer, Asked, DraftChange};

use super::effects::Effects;

pub(crate) fn check(evidence: &Evidence, effects: &Effects) {
    let refused = &evidence.notes.drafts_refused;
    assert!(refused.is_empty(), "drafts: done, and refused when asked again: {refused:?}");
    let mut changes: BTreeMap<OfferId, Vec<&DraftChange>> = BTreeMap::new();
    for change in &evidence.notes.draft_changes {
        changes.entry(change.draft).or_default().push(change);
    }
    for call in &evidence.notes.calls {
        let Asked::Publish { draft } = call.asked else { continue };
        let versions = evidence.versions.get(&draft);
        match &call.answer {
            Answer::Done(offer) => {
                assert_eq!(offer.id, draft.to_string(), "drafts: {draft} became another offer");
                assert!(versions.is_some(), "drafts: {draft} was published and is not there");
            }
            Answer::Refused(Error::NoDraft(_)) => {
                assert!(versions.is_none(), "drafts: {draft} was published and is not known any more");
            }
            Answer::Refused(_) | Answer::Open => {}
        }
    }
    for (draft, changes) in &changes {
        let published: Vec<_> = changes.iter().filter_map(|change| effects.get(&change.token)).collect();
        let Some(versions) = evidence.versions.get(draft) else {
            assert!(published.is_empty(), "drafts: {draft} became {published:?}");
            continue;
        };
        assert_eq!(published, [&(*draft, 1)], "drafts: {draft}");
        let token = token_after("thing ", &versions[0].offer.title);
        let chosen = changes.iter().find(|change| Some(change.token) == token).unwrap();
        let lost: Vec<_> = changes.iter().filter(|change| change.asked > chosen.done).collect();
        assert!(lost.is_empty(), "drafts: {draft} was published as {chosen:?}, without {lost:?}");
    }
}
