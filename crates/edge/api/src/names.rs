//! Removes names that a caller may not see. Sellers learn the role of an author, not the person:
//! moderators must not be identifiable by those whose offers they ban.

use access::{Action, Caller};
use serde_json::Value;
use wire::torg::offers::v1::{Author, HistoryEntry, Moderation, Offer, OfferChange, author};

use crate::caller::own_seller;

/// The history field whose values contain an author.
const STATUS_REASON: &str = "status_reason";

#[derive(Clone, Debug)]
pub(crate) struct Names {
    all: bool,
    own: Option<String>,
}

impl Names {
    /// Staff see all names, sellers their own.
    pub(crate) fn seen_by(caller: &Caller) -> Names {
        Names { all: caller.may(Action::ReadAny), own: own_seller(caller).map(str::to_owned) }
    }

    /// The status reason of an offer has an author.
    pub(crate) fn offer(&self, mut offer: Offer) -> Offer {
        if let Some(reason) = offer.status_reason.as_option_mut() {
            self.author(reason.author.as_option_mut());
        }
        offer
    }

    pub(crate) fn change(&self, mut change: OfferChange) -> OfferChange {
        self.author(change.author.as_option_mut());
        change.offer = change.offer.into_option().map(|offer| self.offer(offer)).into();
        change
    }

    pub(crate) fn entry(&self, mut entry: HistoryEntry) -> HistoryEntry {
        if self.all {
            return entry;
        }
        self.author(entry.author.as_option_mut());
        for change in entry.changes.iter_mut().filter(|change| change.field == STATUS_REASON) {
            for value in [&mut change.before, &mut change.after] {
                *value = value.take().and_then(|value| self.reason(&value));
            }
            // An excerpt of a reason cannot be parsed.
            change.excerpt = None.into();
        }
        entry
    }

    pub(crate) fn moderation(&self, mut moderation: Moderation) -> Moderation {
        if let Some(opinion) = moderation.opinion.as_option_mut().filter(|_| !self.all) {
            opinion.moderator.clear();
        }
        moderation
    }

    fn author(&self, author: Option<&mut Author>) {
        if let Some(author) = author.filter(|author| !self.sees(author.kind.as_known(), &author.name)) {
            author.name.clear();
        }
    }

    fn sees(&self, kind: Option<author::Kind>, name: &str) -> bool {
        self.all || kind == Some(author::Kind::KIND_SELLER) && self.own.as_deref() == Some(name)
    }

    /// The JSON of a status reason; `None` if it is invalid.
    fn reason(&self, json: &str) -> Option<String> {
        let mut reason: Value = serde_json::from_str(json).ok()?;
        if let Some(author) = reason.get_mut("author").and_then(Value::as_object_mut) {
            let is = |key: &str, wanted: Option<&str>| author.get(key).and_then(Value::as_str) == wanted;
            let own =
                is("kind", Some("KIND_SELLER")) && self.own.is_some() && is("name", self.own.as_deref());
            if !own {
                author.remove("name");
            }
        }
        serde_json::to_string(&reason).ok()
    }
}

#[cfg(test)]
mod tests {
    use access::{Proof, Role, Roles};
    use wire::torg::offers::v1::history_entry::{Excerpt, FieldChange};
    use wire::torg::offers::v1::{Opinion, StatusReason};

    use super::*;

    fn caller(role: Role, seller: Option<&str>) -> Caller {
        let (roles, proof) = (Roles::NONE.with(role), Proof::Token { issuer: "test".into() });
        let seller = seller.map(str::to_owned);
        Caller { subject: "somebody".into(), seller, anonymous: None, roles, proof }
    }

    fn by(kind: author::Kind, name: &str) -> Author {
        Author { kind: kind.into(), name: name.into(), ..Author::default() }
    }

    /// An answer of every kind about a change by this author, as text.
    fn shown(caller: &Caller, author: &Author) -> String {
        let names = Names::seen_by(caller);
        let reason = StatusReason { code: "why".into(), author: author.clone().into(), ..Default::default() };
        let value = serde_json::to_string(&reason).unwrap();
        let offer = Offer { status_reason: reason.into(), ..Offer::default() };
        let field = FieldChange {
            field: STATUS_REASON.into(),
            before: Some(value.clone()),
            after: Some(value),
            ..FieldChange::default()
        };
        let excerpt = Excerpt { after: format!("…{}…", author.name), ..Excerpt::default() };
        let long =
            FieldChange { field: STATUS_REASON.into(), excerpt: excerpt.into(), ..FieldChange::default() };
        let entry = HistoryEntry {
            author: author.clone().into(),
            changes: vec![field, long],
            ..HistoryEntry::default()
        };
        let change = OfferChange {
            author: author.clone().into(),
            offer: offer.clone().into(),
            ..OfferChange::default()
        };
        let opinion = Opinion { moderator: author.name.clone(), ..Opinion::default() };
        let moderation = Moderation { opinion: opinion.into(), ..Moderation::default() };
        let shown =
            (names.offer(offer), names.entry(entry), names.change(change), names.moderation(moderation));
        format!("{shown:?}")
    }

    #[test]
    fn who_reads_only_their_own_sees_roles_and_who_reads_anybodys_sees_names() {
        let mia = by(author::Kind::KIND_MODERATION, "mia");
        for blind in [caller(Role::Seller, Some("ann")), caller(Role::Seller, None), Caller::anonymous(None)]
        {
            let text = shown(&blind, &mia);
            assert!(!text.contains("mia"), "{text}");
            assert_eq!(text.matches("KIND_MODERATION").count(), 6, "{text}");
            assert_eq!(text.matches("why").count(), 4, "{text}");
        }
        for role in [Role::Support, Role::Moderator, Role::Service, Role::Admin] {
            assert_eq!(shown(&caller(role, None), &mia).matches("mia").count(), 8, "{role}");
        }
    }

    #[test]
    fn sellers_see_themselves_and_no_namesake_among_the_staff() {
        let ann = caller(Role::Seller, Some("ann"));
        assert_eq!(shown(&ann, &by(author::Kind::KIND_SELLER, "ann")).matches("ann").count(), 6);
        for other in [by(author::Kind::KIND_SELLER, "bob"), by(author::Kind::KIND_SUPPORT, "ann")] {
            let text = shown(&ann, &other);
            assert!(!text.contains("bob") && !text.contains("ann"), "{text}");
        }
    }
}
