//! Behind every version stands a call, a stage, an opinion or the archive, and it has the effect of
//! that and no other.

use std::collections::BTreeMap;

use offers::OfferId;
use wire::torg::offers::v1::{Offer, Price, Status};

use crate::model::client::{reason, title};
use crate::model::evidence::{Evidence, Version, status, tokens_brought};
use crate::model::filters::{Feed, feed_of};
use crate::model::journal::{Answer, Asked, Token};
use crate::model::moderator::moderator;
use crate::model::rules::Who;

/// What calls and opinions set of an offer.
#[derive(Clone, Debug, PartialEq)]
struct Face {
    seller: String,
    category: String,
    feed: Option<Feed>,
    title: String,
    price: Option<Price>,
    status: Status,
    reason: String,
}

impl Face {
    fn of(offer: &Offer) -> Self {
        Self {
            seller: offer.seller.clone(),
            category: offer.category.clone(),
            feed: feed_of(offer),
            title: offer.title.clone(),
            price: offer.price.as_option().cloned(),
            status: status(offer),
            reason: offer.status_reason.as_option().map(|reason| reason.code.clone()).unwrap_or_default(),
        }
    }
}

/// By token, the offer and version that have its effect: calls have one at most.
pub(crate) type Effects = BTreeMap<Token, (OfferId, u64)>;

pub(crate) fn check(evidence: &Evidence) -> Effects {
    let mut effects = Effects::new();
    let asked = asked(evidence);
    for (id, versions) in &evidence.versions {
        let mut before: Option<&Version> = None;
        for version in versions {
            let at = format!("effects: {id} v{} by {:?} {}", version.number, version.by, version.name);
            let previous = before.map(|before| &before.offer);
            let tokens: Vec<Token> = tokens_brought(previous, &version.offer).into_iter().collect();
            let expected = match version.by {
                Who::Seller => {
                    assert_eq!(tokens.len(), 1, "{at}: it has the tokens {tokens:?}");
                    let Some((seller, asked)) = asked.get(&tokens[0]) else {
                        panic!("{at}: nobody asked for it")
                    };
                    assert_eq!(*seller, version.name, "{at}: somebody else asked for it");
                    let earlier = effects.insert(tokens[0], (*id, version.number));
                    assert_eq!(earlier, None, "{at}: token {} has an effect already", tokens[0]);
                    by_seller(previous, seller, tokens[0], asked)
                }
                by => {
                    let previous = previous.unwrap_or_else(|| panic!("{at}: it begins like this"));
                    by_others(&at, by, version, &Face::of(previous))
                }
            };
            assert_eq!(Face::of(&version.offer), expected, "{at}");
            before = Some(version);
        }
    }
    effects
}

/// What sellers asked for, or may have: all but what was refused.
fn asked(evidence: &Evidence) -> BTreeMap<Token, (&'static str, Asked)> {
    let calls = evidence.notes.calls.iter().filter(|call| !matches!(call.answer, Answer::Refused(_)));
    let calls = calls.map(|call| (call.token, (call.seller, call.asked.clone())));
    let drafts = evidence.notes.draft_changes.iter().map(|change| {
        let published = Asked::Create { category: "bikes", price: change.price.clone(), feed: None };
        (change.token, (change.seller, published))
    });
    calls.chain(drafts).collect()
}

fn by_seller(before: Option<&Offer>, seller: &str, token: Token, asked: &Asked) -> Face {
    match (asked, before) {
        (Asked::Create { category, price, feed }, None) => Face {
            feed: feed.clone(),
            seller: seller.to_owned(),
            category: (*category).to_owned(),
            title: title(token),
            price: Some(price.clone()),
            status: Status::Active,
            reason: String::new(),
        },
        (Asked::Update { renames, price }, Some(before)) => {
            let mut face = Face::of(before);
            if *renames {
                face.title = title(token);
            }
            Face { price: price.clone().or(face.price), ..face }
        }
        (Asked::Move { to, .. }, Some(before)) => {
            Face { status: *to, reason: reason(token), ..Face::of(before) }
        }
        _ => panic!("effects: {asked:?} after {before:?}"),
    }
}

/// Others change the status and its reason alone, and which status they may set is for the check of
/// moves to say.
fn by_others(at: &str, by: Who, version: &Version, before: &Face) -> Face {
    let (name, after) = (&*version.name, Face::of(&version.offer));
    let reason = match by {
        Who::Stage => {
            assert_eq!(name, "expiry", "{at}");
            "exposure_over".to_owned()
        }
        Who::Archive => {
            assert_eq!(name, "archive", "{at}");
            "removed".to_owned()
        }
        Who::Moderation if after.status == Status::Removed && before.status == Status::Removed => {
            before.reason.clone()
        }
        Who::Moderation => {
            let token = super::opinions::token_of(name);
            assert_eq!(name, moderator(token), "{at}");
            reason(token)
        }
        Who::Seller => unreachable!("{at}"),
    };
    Face { status: after.status, reason, ..before.clone() }
}
