//! The newest opinion counts, every one that counts when it comes has its effect, and what is none
//! is put aside.

use std::collections::{BTreeMap, BTreeSet};

use offers::OfferId;
use wire::torg::offers::v1::Status;

use crate::model::evidence::{Evidence, token_after};
use crate::model::journal::{Given, Token};
use crate::model::market::Market;
use crate::model::rules::Who;

/// The token of a moderator.
pub(crate) fn token_of(moderator: &str) -> Token {
    token_after("moderator ", moderator).unwrap_or_else(|| panic!("opinions: {moderator:?} is nobody"))
}

pub(crate) async fn check(market: &Market, evidence: &Evidence) {
    let given: BTreeMap<Token, &Given> =
        evidence.notes.given.iter().map(|given| (given.token, given)).collect();
    let accepted: BTreeSet<Token> = evidence.opinions.iter().copied().collect();
    assert_eq!(
        accepted,
        given.keys().copied().collect(),
        "opinions: the topic has others than were accepted"
    );
    let unfit = given.values().filter(|given| given.offer.is_none()).map(|given| given.token).collect();
    assert_eq!(evidence.dead_letters, unfit, "opinions: put aside");
    let mut of_offers: BTreeMap<OfferId, Vec<&Given>> = BTreeMap::new();
    for token in &evidence.opinions {
        apply(&mut of_offers, given[token]);
    }
    for id in evidence.versions.keys() {
        let applied = of_offers.remove(id).unwrap_or_default();
        bans(evidence, *id, &applied);
        let kept = market.offers.moderation(*id).await.unwrap();
        let kept = kept.map(|kept| kept.opinion.as_option().map(|opinion| token_of(&opinion.moderator)));
        assert_eq!(kept, applied.last().map(|newest| Some(newest.token)), "opinions: what is kept of {id}");
    }
    assert!(of_offers.is_empty(), "opinions: {:?} are not in the topic", of_offers.keys());
}

/// Adds an opinion to those that count when they come: one that is older than the newest does not.
fn apply<'a>(of_offers: &mut BTreeMap<OfferId, Vec<&'a Given>>, given: &'a Given) {
    let Some(id) = given.offer else { return };
    let applied = of_offers.entry(id).or_default();
    if applied.last().is_none_or(|newest| newest.formed_ms <= given.formed_ms) {
        applied.push(given);
    }
}

fn bans(evidence: &Evidence, id: OfferId, applied: &[&Given]) {
    let versions = evidence.versions[&id].iter().filter(|version| version.by == Who::Moderation);
    let followed: Vec<(Token, Status)> =
        versions.map(|version| (token_of(&version.name), version.status())).collect();
    let mut rest = applied.iter();
    for (token, status) in &followed {
        let opinion = rest.find(|given| given.token == *token);
        let opinion =
            opinion.unwrap_or_else(|| panic!("opinions: {id} follows {token} out of turn: {applied:?}"));
        assert_eq!(opinion.bans, *status == Status::Banned, "opinions: {id} after {opinion:?}");
    }
    let is_archived = evidence.status(id) == Status::Archived;
    for ban in
        applied.iter().filter(|given| given.bans && !followed.iter().any(|(token, _)| *token == given.token))
    {
        assert!(is_archived, "opinions: {id} does not follow {ban:?}");
    }
    let is_banned = applied.last().is_some_and(|newest| newest.bans);
    assert!(
        is_archived || is_banned == (evidence.status(id) == Status::Banned),
        "opinions: {id} is {:?} after {:?}",
        evidence.status(id),
        applied.last()
    );
}
