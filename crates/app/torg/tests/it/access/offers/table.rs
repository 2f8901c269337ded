//! The access table: which callers may call which methods.

use serde_json::{Value, json};

use super::market::{Target, car};
use crate::common::wire::Reply;

pub(super) struct Caller {
    pub(super) name: &'static str,
    /// The roles of the token; `None` without a token.
    pub(super) roles: Option<&'static [&'static str]>,
    pub(super) seller: Option<&'static str>,
    pub(super) anonymous: Option<&'static str>,
}

/// The name of the anonymous visitor.
pub(super) const VISITOR: &str = "visitor-0123456789abcdef";

const fn known(name: &'static str, roles: &'static [&'static str], seller: Option<&'static str>) -> Caller {
    Caller { name, roles: Some(roles), seller, anonymous: None }
}

/// The columns of the tables.
pub(super) const CALLERS: [Caller; 10] = [
    Caller { name: "nobody", roles: None, seller: None, anonymous: None },
    Caller { name: "a visitor", roles: None, seller: None, anonymous: Some(VISITOR) },
    known("ann", &["seller"], Some("ann")),
    known("bob", &["seller"], Some("bob")),
    known("support", &["support"], None),
    known("a moderator", &["moderator"], None),
    known("a service", &["service"], None),
    known("an admin", &["admin"], None),
    known("ann without a role", &[], Some("ann")),
    known("a seller without a name", &["seller"], None),
];

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Allowed,
    /// The response says that the object does not exist.
    Missing,
    /// The call succeeds with an empty result.
    Nothing,
    Forbidden,
    SignIn,
    /// The caller has to name a seller.
    Whom,
    Other,
}

use Outcome::{Allowed as A, Forbidden as F, Missing as M, Nothing as N, SignIn as S, Whom as W};

impl Outcome {
    pub(super) fn of(reply: &Reply) -> Outcome {
        let tells = |what: &str| reply.text().contains(what);
        match &*reply.code() {
            "ok" if reply.header("content-type") == Some("application/json") && tells("\"missing\":[") => N,
            // The field of the missing ids.
            "ok" if reply.message().starts_with(&[0x12, 0x10]) => N,
            "ok" => A,
            "not_found" => M,
            "permission_denied" => F,
            "unauthenticated" => S,
            "invalid_argument" if tells("is required") => W,
            _ => Outcome::Other,
        }
    }
}

/// A line of a table.
pub(super) struct Line {
    service: &'static str,
    method: &'static str,
    /// A request on objects of ann.
    pub(super) request: fn(&Target) -> Value,
    pub(super) outcomes: [Outcome; 10],
}

impl Line {
    pub(super) fn path(&self) -> String {
        format!("/torg.{}/{}", self.service, self.method)
    }
}

pub(super) const fn line(
    service: &'static str,
    method: &'static str,
    outcomes: [Outcome; 10],
    request: fn(&Target) -> Value,
) -> Line {
    Line { service, method, request, outcomes }
}

const OFFERS: &str = "offers.v1.OfferService";
const DRAFTS: &str = "offers.v1.DraftService";
const CABINET: &str = "offers.v1.CabinetService";
const MODERATION: &str = "offers.v1.ModerationService";
const CATALOGUE: &str = "catalog.v1.CatalogueService";

fn of_id(target: &Target) -> Value {
    json!({"id": target.offer})
}

fn of_seller(target: &Target) -> Value {
    json!({"seller": target.seller})
}

fn of_draft(target: &Target) -> Value {
    json!({"owner": {"seller": target.seller}, "id": target.draft})
}

/// Every method for offers, on objects of ann, and of the catalogue, which is public.
#[rustfmt::skip]
pub(super) const METHODS: &[Line] = &[
    //                                     nobody visitor ann bob support moderator service admin no role no name
    line(OFFERS,     "CreateOffer",        [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"offer": car(&it.seller)})),
    line(OFFERS,     "GetOffer",           [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_id),
    line(OFFERS,     "BatchGetOffers",     [N,    N,      A,  N,  A,      A,        A,      A,    N,      N], |it| json!({"ids": [it.offer]})),
    line(OFFERS,     "UpdateOffer",        [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"offer": {"id": it.offer, "title": "BMW 325i"}, "updateMask": "title"})),
    line(OFFERS,     "MoveOffer",          [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"id": it.offer, "to": "STATUS_SOLD"})),
    line(OFFERS,     "GetHistory",         [M,    M,      A,  M,  A,      A,        F,      A,    M,      M], of_id),
    line(OFFERS,     "ExplainOffer",       [M,    M,      F,  M,  A,      A,        F,      A,    M,      M], of_id),
    line(OFFERS,     "WatchOffers",        [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_seller),
    line(OFFERS,     "GetBilling",         [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_id),
    line(OFFERS,     "SetBilling",         [M,    M,      F,  M,  F,      F,        A,      A,    M,      M], |it| json!({"id": it.offer, "billing": {"tariff": "gold"}})),
    line(DRAFTS,     "OpenDraft",          [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"owner": {"seller": it.seller}, "category": "transport/cars"})),
    line(DRAFTS,     "UpdateDraft",        [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], |it| json!({"owner": {"seller": it.seller}, "draft": {"id": it.draft, "offer": {"title": "x"}}, "updateMask": "title"})),
    line(DRAFTS,     "PublishDraft",       [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], of_draft),
    line(DRAFTS,     "DeleteDraft",        [M,    M,      A,  M,  F,      F,        A,      A,    M,      M], of_draft),
    line(CABINET,    "ListOffers",         [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_seller),
    line(CABINET,    "GetCounts",          [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_seller),
    line(CABINET,    "GetCounters",        [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_seller),
    line(CABINET,    "RepairCounts",       [M,    M,      F,  M,  A,      A,        F,      A,    M,      M], of_seller),
    line(MODERATION, "GiveOpinion",        [M,    M,      F,  M,  F,      A,        F,      A,    M,      M], |it| json!({"opinion": {"offer": it.offer, "verdict": "VERDICT_BAN"}})),
    line(MODERATION, "GetModeration",      [M,    M,      A,  M,  A,      A,        A,      A,    M,      M], of_id),
    line(CATALOGUE,  "FindCategories",     [A,    A,      A,  A,  A,      A,        A,      A,    A,      A], |_| json!({"text": "cars"})),
    line(CATALOGUE,  "GetCategory",        [A,    A,      A,  A,  A,      A,        A,      A,    A,      A], |_| json!({"id": "transport/cars"})),
];

/// Methods whose requests may leave out the seller. Only callers with the rights of all sellers may
/// watch all offers.
#[rustfmt::skip]
pub(super) const UNNAMED: &[Line] = &[
    //                                     nobody visitor ann bob support moderator service admin no role no name
    line(OFFERS,     "CreateOffer",        [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({"offer": car("")})),
    line(OFFERS,     "WatchOffers",        [S,    S,      A,  A,  A,      A,        A,      A,    W,      W], |_| json!({})),
    line(DRAFTS,     "OpenDraft",          [S,    A,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({})),
    line(DRAFTS,     "UpdateDraft",        [S,    M,      M,  M,  W,      W,        W,      W,    W,      W], |it| json!({"draft": {"id": it.draft, "offer": {"title": "x"}}})),
    line(DRAFTS,     "PublishDraft",       [S,    S,      M,  M,  W,      W,        W,      W,    W,      W], |it| json!({"id": it.draft})),
    line(DRAFTS,     "DeleteDraft",        [S,    A,      A,  A,  W,      W,        W,      W,    W,      W], |it| json!({"id": it.draft})),
    line(CABINET,    "ListOffers",         [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({})),
    line(CABINET,    "GetCounts",          [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({})),
    line(CABINET,    "GetCounters",        [S,    S,      A,  A,  W,      W,        W,      W,    W,      W], |_| json!({})),
    line(CABINET,    "RepairCounts",       [S,    S,      F,  F,  W,      W,        W,      W,    W,      W], |_| json!({})),
];
