//! Idempotency keys: which call it is, so that the same one made twice has one effect.

use access::{Caller, Proof};
use buffa::Message;
use offers::Request;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::errors::Refusal;
use crate::limits::idempotency_key;

/// What the domain knows a call by; `None` if it has no key. Two calls under one key are the same if the method and all that was sent are.
pub fn request(
    caller: &Caller,
    key: &str,
    method: &str,
    sent: &impl Message,
) -> Result<Option<Request>, Refusal> {
    let Some(key) = idempotency_key(key)? else { return Ok(None) };
    let mut hash = Xxh3::new();
    hash.update(method.as_bytes());
    hash.update(&[0]);
    hash.update(&sent.encode_to_vec());
    Ok(Some(Request { caller: name(caller), key: key.to_owned(), fingerprint: hash.digest() }))
}

/// A name of a caller that no other caller has, short enough for a key.
fn name(caller: &Caller) -> String {
    let (kind, by) = match &caller.proof {
        Proof::Off => ("off", ""),
        Proof::Nothing => ("nothing", caller.anonymous.as_ref().map_or("", access::AnonymousId::expose)),
        Proof::Token { issuer } => ("token", &**issuer),
        Proof::ApiKey { id } => ("key", &**id),
    };
    let whole = format!("{kind}\0{by}\0{}", caller.subject);
    format!("{:032x}", xxh3_128(whole.as_bytes()))
}

#[cfg(test)]
mod tests {
    use access::{AnonymousId, Roles};
    use contract::torg::offers::v1::{GetOfferRequest, MoveOfferRequest};

    use super::*;

    fn caller(subject: &str, proof: Proof) -> Caller {
        Caller { subject: subject.into(), seller: None, anonymous: None, roles: Roles::NONE, proof }
    }

    #[test]
    fn callers_have_names_of_their_own() {
        let token = |issuer: &str| Proof::Token { issuer: issuer.into() };
        let anonymous = |id: &str| Caller::anonymous(AnonymousId::new(id));
        let callers = [
            caller("a", token("x")),
            caller("b", token("x")),
            caller("a", token("y")),
            caller("a", Proof::ApiKey { id: "x".into() }),
            caller("", token("xa")),
            Caller::local(),
            anonymous("0123456789abcdefABCD-_"),
            anonymous("0123456789abcdefABCD-x"),
        ];
        for (n, caller) in callers.iter().enumerate() {
            assert_eq!(name(caller), name(&caller.clone()));
            assert!(callers[n + 1..].iter().all(|other| name(other) != name(caller)), "{caller:?}");
        }
    }

    #[test]
    fn a_call_is_known_by_its_key_its_method_and_what_it_sends() {
        let caller = Caller::local();
        let get = |id: &str| GetOfferRequest { id: id.into(), ..GetOfferRequest::default() };
        let of =
            |method: &str, id: &str| request(&caller, "k", method, &get(id)).unwrap().unwrap().fingerprint;
        assert_eq!(of("Get", "1"), of("Get", "1"));
        assert_ne!(of("Get", "1"), of("Get", "2"));
        assert_ne!(of("Get", "1"), of("Set", "1"));
        let moved = MoveOfferRequest { id: "1".into(), version: 1, ..MoveOfferRequest::default() };
        assert!(request(&caller, "", "Move", &moved).unwrap().is_none());
        assert!(request(&caller, "a b", "Move", &moved).is_err());
    }
}
