//! Names of statuses, conditions, sources and authors.

use access::Action;
use maud::{Markup, html};
use wire::torg::offers::v1::__buffa::oneof::source::Kind as SourceKind;
use wire::torg::offers::v1::{Author, Condition, Offer, Status, author};

use crate::language::w;
use crate::view::{Tone, path, state};
use crate::visit::Visit;

pub(super) fn status_name(status: Status) -> &'static str {
    match status {
        Status::STATUS_UNSPECIFIED => w("not known"),
        Status::STATUS_ACTIVE => w("active"),
        Status::STATUS_EXPIRED => w("expired"),
        Status::STATUS_BANNED => w("banned"),
        Status::STATUS_SOLD => w("sold"),
        Status::STATUS_REMOVED => w("removed"),
        Status::STATUS_ARCHIVED => w("archived"),
    }
}

pub(in crate::pages) fn status(visit: &Visit, offer: &Offer) -> Markup {
    let status = offer.status.as_known().unwrap_or_default();
    let tone = match status {
        Status::STATUS_ACTIVE | Status::STATUS_SOLD => Tone::Good,
        Status::STATUS_EXPIRED => Tone::Warn,
        Status::STATUS_BANNED => Tone::Bad,
        _ => Tone::Plain,
    };
    state(tone, visit.t(status_name(status)))
}

pub(super) fn condition_name(condition: Condition) -> Option<&'static str> {
    match condition {
        Condition::CONDITION_UNSPECIFIED => None,
        Condition::CONDITION_NEW => Some(w("new")),
        Condition::CONDITION_LIKE_NEW => Some(w("like new")),
        Condition::CONDITION_USED => Some(w("used")),
        Condition::CONDITION_FOR_PARTS => Some(w("for parts")),
        Condition::CONDITION_REFURBISHED => Some(w("refurbished")),
    }
}

/// The source of an offer, with a link to its feed.
pub(in crate::pages) fn source(visit: &Visit, offer: &Offer) -> Markup {
    match offer.source.as_option().and_then(|source| source.kind.as_ref()) {
        Some(SourceKind::Feed(feed)) => html! {
            (visit.t("feed")) " " a href=(path(&["feeds", &offer.seller, &feed.namespace])) { (feed.namespace) }
            ", " code { (feed.external_id) }
        },
        Some(SourceKind::Manual(_)) | None => html! { (visit.t("added by hand")) },
    }
}

/// The author of a change: the role, and the name if the visitor may know it, with a link to the
/// stage or the load.
pub(super) fn author(visit: &Visit, author: Option<&Author>, seller: &str) -> Markup {
    use author::Kind;
    let Some(author) = author else { return html! { (visit.t("author unknown")) } };
    let kind = match author.kind.as_known().unwrap_or_default() {
        Kind::KIND_UNSPECIFIED => w("author unknown"),
        Kind::KIND_SELLER => w("seller"),
        Kind::KIND_STAGE => w("stage"),
        Kind::KIND_FEED => w("feed"),
        Kind::KIND_MODERATION => w("moderation"),
        Kind::KIND_SUPPORT => w("support"),
        Kind::KIND_SERVICE => w("service"),
        Kind::KIND_ADMIN => w("admin"),
        Kind::KIND_ARCHIVE => w("archive"),
    };
    let place = match author.kind.as_known() {
        Some(Kind::KIND_STAGE) if visit.caller().may(Action::SeeProcess) => {
            Some(path(&["stages", &author.name]))
        }
        // Feed names contain no space.
        Some(Kind::KIND_FEED) => author
            .name
            .split_once(' ')
            .map(|(namespace, load)| path(&["feeds", seller, namespace, "loads", load])),
        _ => None,
    };
    html! {
        (visit.t(kind))
        @if !author.name.is_empty() {
            " "
            @if let Some(place) = &place { a href=(place) { (author.name) } }
            @else { (author.name) }
        }
    }
}
