//! The caller of a request, the seller it is about, and the author that the domain records.

use access::{Action, Caller, Owner, Role, Verdict};
use connectrpc::RequestContext;
use offers::OfferId;
use offers::status::Mover;
use wire::torg::offers::v1::{Author, Offer, author};

use crate::errors::Refusal;
use crate::limits::{NAME_BYTES_MAX, name};

/// The caller of a request, set by the gate. A request without one has not passed the gate and is
/// refused.
pub fn of_request(context: &RequestContext) -> Result<&Caller, Refusal> {
    let caller = context.extensions().get::<Caller>();
    caller.ok_or_else(|| Refusal::internal(&"the request has no caller: it did not pass the gate"))
}

/// Refuses a caller whose roles do not allow this action.
pub(crate) fn require(caller: &Caller, action: Action) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(action), Refusal::forbidden)
}

/// What a caller wants to do with a seller's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    Read,
    Write,
}

/// The seller that a request names in this field. Sellers may omit it or name themselves; others
/// must name one. Another seller is missing.
pub fn whose<'a>(
    caller: &'a Caller,
    field: &str,
    named: &'a str,
    intent: Intent,
) -> Result<&'a str, Refusal> {
    let seller = match (named, own_seller(caller)) {
        ("", Some(own)) => own,
        ("", None) if caller.is_anonymous() => return Err(Refusal::sign_in()),
        ("", None) => return Err(Refusal::required(field)),
        (named, _) => named,
    };
    name(field, seller, NAME_BYTES_MAX)?;
    Refusal::of_verdict(judge(caller, seller, intent), Refusal::no_seller)?;
    Ok(seller)
}

/// Checks access to an existing offer. Another seller's offer is missing.
pub fn may(caller: &Caller, intent: Intent, id: OfferId, offer: &Offer) -> Result<(), Refusal> {
    Refusal::of_verdict(judge(caller, &offer.seller, intent), || Refusal::no_offer(id))
}

/// Checks access to the history of an offer: its seller and staff.
pub fn may_see_history(caller: &Caller, id: OfferId, offer: &Offer) -> Result<(), Refusal> {
    if is_own(caller, &offer.seller) {
        return Ok(());
    }
    let verdict = caller.judge_on(Action::SeeInternals, Owner::Seller(&offer.seller));
    Refusal::of_verdict(verdict, || Refusal::no_offer(id))
}

/// The role in which a caller moves an offer. The table of status changes decides what it may do.
pub fn mover(caller: &Caller, id: OfferId, offer: &Offer) -> Result<Mover, Refusal> {
    if is_own(caller, &offer.seller) {
        return Ok(Mover::Seller);
    }
    let owner = Owner::Seller(&offer.seller);
    match caller.judge_on(Action::ChangeAnyStatus, owner) {
        Verdict::Allowed if caller.roles.has(Role::Admin) => Ok(Mover::Admin),
        Verdict::Allowed => Ok(Mover::Moderation),
        _ => {
            Refusal::of_verdict(caller.judge_write(owner), || Refusal::no_offer(id))?;
            Ok(Mover::Service)
        }
    }
}

/// The author of a change to a seller's object.
#[must_use]
pub fn author(caller: &Caller, seller: &str) -> Author {
    use author::Kind;
    let (kind, name) =
        if is_own(caller, seller) { (Kind::KIND_SELLER, seller) } else { (staff(caller), &*caller.subject) };
    Author { kind: kind.into(), name: name.to_owned(), ..Author::default() }
}

fn staff(caller: &Caller) -> author::Kind {
    use author::Kind;
    let kinds = [
        (Role::Admin, Kind::KIND_ADMIN),
        (Role::Service, Kind::KIND_SERVICE),
        (Role::Moderator, Kind::KIND_MODERATION),
        (Role::Support, Kind::KIND_SUPPORT),
    ];
    let kind = kinds.into_iter().find(|(role, _)| caller.roles.has(*role));
    kind.map_or(Kind::KIND_UNSPECIFIED, |(_, kind)| kind)
}

fn judge(caller: &Caller, seller: &str, intent: Intent) -> Verdict {
    match intent {
        Intent::Read => caller.judge_read(Owner::Seller(seller)),
        Intent::Write => caller.judge_write(Owner::Seller(seller)),
    }
}

/// The seller of a caller: needs the role and the id.
pub(crate) fn own_seller(caller: &Caller) -> Option<&str> {
    caller.seller.as_deref().filter(|_| caller.roles.has(Role::Seller))
}

pub(crate) fn is_own(caller: &Caller, seller: &str) -> bool {
    own_seller(caller) == Some(seller)
}

#[cfg(test)]
mod tests {
    use access::{Proof, Roles};
    use connectrpc::ErrorCode;

    use super::*;

    const ID: &str = "4829175033168090";

    fn caller(role: Role, seller: Option<&str>) -> Caller {
        Caller {
            subject: "somebody".into(),
            seller: seller.map(str::to_owned),
            anonymous: None,
            roles: Roles::NONE.with(role),
            proof: Proof::Token { issuer: "test".into() },
        }
    }

    fn offer() -> Offer {
        Offer { seller: "s1".into(), ..Offer::default() }
    }

    fn id() -> OfferId {
        ID.parse().unwrap()
    }

    #[test]
    fn a_request_without_a_caller_is_refused_as_our_mistake() {
        let mut context = RequestContext::new(http::HeaderMap::new());
        let refusal = of_request(&context).unwrap_err();
        assert_eq!((refusal.code(), refusal.reason()), (ErrorCode::Internal, "INTERNAL"));
        assert!(!refusal.text().contains("gate"), "{}", refusal.text());
        context.extensions_mut().insert(Caller::local());
        assert_eq!(of_request(&context), Ok(&Caller::local()));
    }

    #[test]
    fn a_seller_may_leave_themselves_out_and_others_have_to_name_one() {
        let reason = |caller: &Caller, named: &str, intent| {
            whose(caller, "seller", named, intent).map_err(|refusal| refusal.reason()).map(str::to_owned)
        };
        let seller = caller(Role::Seller, Some("s1"));
        for intent in [Intent::Read, Intent::Write] {
            for named in ["", "s1"] {
                assert_eq!(reason(&seller, named, intent), Ok("s1".into()));
            }
            assert_eq!(reason(&seller, "s2", intent), Err("SELLER_NOT_FOUND"));
            assert_eq!(reason(&caller(Role::Service, None), "", intent), Err("REQUIRED"));
            assert_eq!(reason(&caller(Role::Service, None), "s2", intent), Ok("s2".into()));
            assert_eq!(reason(&Caller::local(), "s2", intent), Ok("s2".into()));
            assert_eq!(reason(&Caller::anonymous(None), "", intent), Err("SIGN_IN"));
            assert_eq!(reason(&Caller::anonymous(None), "s2", intent), Err("SELLER_NOT_FOUND"));
            // The name of a seller without the role is nothing.
            assert_eq!(reason(&caller(Role::Support, Some("s1")), "", intent), Err("REQUIRED"));
        }
        assert_eq!(reason(&caller(Role::Support, None), "s2", Intent::Read), Ok("s2".into()));
        assert_eq!(reason(&caller(Role::Support, None), "s2", Intent::Write), Err("FORBIDDEN"));
        assert_eq!(reason(&Caller::local(), "a\u{0}", Intent::Read), Err("BAD_CHARACTER"));
        assert_eq!(
            reason(&Caller::local(), &"s".repeat(NAME_BYTES_MAX + 1), Intent::Read),
            Err("LIMIT_EXCEEDED")
        );
    }

    #[test]
    fn anothers_offer_is_answered_as_one_that_is_not_there() {
        let missing = Refusal::from(offers::Error::NotFound(id()));
        for stranger in [caller(Role::Seller, Some("s2")), Caller::anonymous(None)] {
            for intent in [Intent::Read, Intent::Write] {
                assert_eq!(may(&stranger, intent, id(), &offer()), Err(missing.clone()));
            }
            assert_eq!(mover(&stranger, id(), &offer()), Err(missing.clone()));
            assert_eq!(may_see_history(&stranger, id(), &offer()), Err(missing.clone()));
        }
    }

    #[test]
    fn everybody_moves_and_signs_as_what_they_are() {
        use author::Kind;
        let cases = [
            (caller(Role::Seller, Some("s1")), Ok(Mover::Seller), Kind::KIND_SELLER, "s1"),
            (caller(Role::Service, None), Ok(Mover::Service), Kind::KIND_SERVICE, "somebody"),
            (caller(Role::Moderator, None), Ok(Mover::Moderation), Kind::KIND_MODERATION, "somebody"),
            (caller(Role::Admin, None), Ok(Mover::Admin), Kind::KIND_ADMIN, "somebody"),
            (caller(Role::Support, None), Err("FORBIDDEN"), Kind::KIND_SUPPORT, "somebody"),
            (Caller::local(), Ok(Mover::Admin), Kind::KIND_ADMIN, "local"),
        ];
        for (caller, moves, kind, name) in cases {
            assert_eq!(
                mover(&caller, id(), &offer()).map_err(|refusal| refusal.reason()),
                moves,
                "{caller:?}"
            );
            let author = author(&caller, "s1");
            assert_eq!((author.kind.as_known(), &*author.name), (Some(kind), name), "{caller:?}");
        }
        let mut both = caller(Role::Moderator, Some("s1"));
        both.roles = both.roles.with(Role::Seller);
        assert_eq!(mover(&both, id(), &offer()), Ok(Mover::Seller), "nobody moderates their own offers");
    }

    #[test]
    fn the_history_is_for_its_seller_and_for_those_who_look_after_the_marketplace() {
        for (caller, allowed) in [
            (caller(Role::Seller, Some("s1")), true),
            (caller(Role::Support, None), true),
            (caller(Role::Moderator, None), true),
            (caller(Role::Admin, None), true),
            (caller(Role::Service, None), false),
        ] {
            assert_eq!(may_see_history(&caller, id(), &offer()).is_ok(), allowed, "{caller:?}");
        }
    }
}
