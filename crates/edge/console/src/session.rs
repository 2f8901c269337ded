//! Sessions: a sealed cookie.
//!
//! The cookie holds the credential (a token or an API key), which the gate checks on every request,
//! so revoking a key ends its sessions. It also holds the last known caller, who may keep reading
//! for a while when the store cannot check the key.

use std::fmt;

use access::{Caller, Proof, Role, Roles};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clock::Time;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::{CHECK_KEPT_EVERY, SESSION_TIME_MAX, UNCHECKED_TIME_MAX};

/// Enough to distinguish people.
const MARK_BYTES: usize = 12;

/// Encrypts and authenticates cookies. All processes of one store share its secret.
pub struct Sealer {
    key: LessSafeKey,
    forms: hmac::Key,
    random: SystemRandom,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(***)")
    }
}

impl Sealer {
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        let derived = |purpose: &[u8]| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), purpose).as_ref().to_vec()
        };
        let Ok(key) = UnboundKey::new(&AES_256_GCM, &derived(b"torg console cookies")) else {
            unreachable!("HMAC-SHA256 gives the 32 bytes that the cipher takes")
        };
        let forms = hmac::Key::new(hmac::HMAC_SHA256, &derived(b"torg console forms"));
        Self { key: LessSafeKey::new(key), forms, random: SystemRandom::new() }
    }

    /// Seals a value for the cookie with this name; `None` if the system has no random bytes.
    pub(crate) fn seal(&self, name: &str, value: &impl Serialize) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut bytes = serde_json::to_vec(value).ok()?;
        let sealing = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(sealing, Aad::from(name.as_bytes()), &mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &bytes].concat()))
    }

    /// Opens a sealed value; `None` if it was not sealed for this cookie by this secret.
    pub(crate) fn open<T: DeserializeOwned>(&self, name: &str, sealed: &str) -> Option<T> {
        let mut bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, rest) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.key.open_in_place(nonce, Aad::from(name.as_bytes()), rest).ok()?;
        serde_json::from_slice(opened).ok()
    }

    /// The CSRF token of a session.
    pub(crate) fn form_token(&self, session: &Session) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.forms, session.id.as_bytes()))
    }

    pub(crate) fn is_form_of(&self, session: &Session, token: &str) -> bool {
        let Ok(tag) = URL_SAFE_NO_PAD.decode(token) else { return false };
        hmac::verify(&self.forms, session.id.as_bytes(), &tag).is_ok()
    }

    /// An opaque mark of a person on a page. It is stable across sessions and keys of the same name
    /// and roles.
    pub(crate) fn mark(&self, session: &Session) -> String {
        let roles: Vec<&str> = session.roles.iter().map(access::Role::name).collect();
        let person = serde_json::json!(["person", session.person, session.seller, roles]).to_string();
        let tag = hmac::sign(&self.forms, person.as_bytes());
        URL_SAFE_NO_PAD.encode(&tag.as_ref()[..MARK_BYTES])
    }

    /// An unguessable id for a new session.
    fn fresh_id(&self) -> Option<String> {
        let mut id = [0; 16];
        self.random.fill(&mut id).ok()?;
        Some(URL_SAFE_NO_PAD.encode(id))
    }
}

/// A signed-in person.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    id: String,
    pub(crate) shown: Credential,
    /// The last known subject.
    subject: String,
    /// The display name.
    pub(crate) name: String,
    /// The owner of the key or token; an owner may have several.
    person: String,
    seller: Option<String>,
    roles: Roles,
    began: Time,
    /// When the gate last checked it, approximately.
    checked: Time,
}

/// What a person signed in with.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Credential {
    Token(String),
    /// A role chosen with access control off.
    Choice,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn of(sealer: &Sealer, caller: &Caller, shown: Credential, now: Time) -> Option<Self> {
        Some(Self {
            id: sealer.fresh_id()?,
            shown,
            subject: caller.subject.clone(),
            name: caller.display_name().into_owned(),
            person: person(caller).to_owned(),
            seller: caller.seller.clone(),
            roles: caller.roles,
            began: now,
            checked: now,
        })
    }

    /// The session after another successful check; `None` if the last one is recent.
    pub(crate) fn rechecked(&self, caller: &Caller, now: Time) -> Option<Self> {
        let renewed = Self {
            subject: caller.subject.clone(),
            name: caller.display_name().into_owned(),
            person: person(caller).to_owned(),
            seller: caller.seller.clone(),
            roles: caller.roles,
            checked: now,
            ..self.clone()
        };
        (now >= self.checked + CHECK_KEPT_EVERY).then_some(renewed)
    }

    /// Whether the last check is recent enough for reading while the store is unavailable.
    pub(crate) fn holds_unchecked(&self, now: Time) -> bool {
        now < self.checked + UNCHECKED_TIME_MAX
    }

    pub(crate) fn is_over(&self, now: Time) -> bool {
        now >= self.began + SESSION_TIME_MAX
    }

    /// The last known subject.
    pub(crate) fn caller(&self) -> Caller {
        let proof = match self.shown {
            Credential::Token(_) => Proof::Token { issuer: String::new() },
            Credential::Choice => Proof::Off,
        };
        Caller {
            subject: self.subject.clone(),
            seller: self.seller.clone(),
            anonymous: None,
            roles: self.roles,
            proof,
        }
    }
}

fn person(caller: &Caller) -> &str {
    match &caller.proof {
        Proof::ApiKey { name, .. } if !name.is_empty() => name,
        _ => &caller.subject,
    }
}

/// The caller for a role chosen with access control off.
pub(crate) fn caller_in_role(role: Role, seller: Option<&str>) -> Option<Caller> {
    let seller = seller.filter(|_| role == Role::Seller);
    if role == Role::Seller && seller.is_none() {
        return None;
    }
    let mut caller = Caller::local();
    if role != Role::Admin {
        caller.roles = Roles::NONE.with(role);
        caller.subject = format!("local {role}");
        caller.seller = seller.map(str::to_owned);
    }
    Some(caller)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sealer() -> Sealer {
        Sealer::new(&[7; 32])
    }

    #[test]
    fn what_was_sealed_is_read_by_the_same_secret_under_the_same_name_only() {
        let sealed = sealer().seal("a", &"text").unwrap();
        assert!(!sealed.contains("text"));
        assert_eq!(sealer().open::<String>("a", &sealed), Some("text".to_owned()));
        assert_eq!(sealer().open::<String>("b", &sealed), None);
        assert_eq!(Sealer::new(&[8; 32]).open::<String>("a", &sealed), None);
        for broken in ["", "x", "AAAA", &sealed[1..], &sealed[..sealed.len() - 2]] {
            assert_eq!(sealer().open::<String>("a", broken), None, "{broken}");
        }
    }

    #[test]
    fn the_token_of_a_form_holds_in_its_own_session_only() {
        let begin =
            || Session::of(&sealer(), &Caller::local(), Credential::Choice, Time::from_seconds(0)).unwrap();
        let (mine, theirs) = (begin(), begin());
        let token = sealer().form_token(&mine);
        assert!(sealer().is_form_of(&mine, &token));
        assert!(!sealer().is_form_of(&theirs, &token));
        assert!(!sealer().is_form_of(&mine, ""));
    }

    #[test]
    fn a_mark_is_of_one_person_in_one_role() {
        let mark = |caller: &Caller| {
            let session = Session::of(&sealer(), caller, Credential::Choice, Time::from_seconds(0)).unwrap();
            sealer().mark(&session)
        };
        let [support, moderator] =
            [Role::Support, Role::Moderator].map(|role| caller_in_role(role, None).unwrap());
        let sellers = ["s1", "s2"].map(|seller| caller_in_role(Role::Seller, Some(seller)).unwrap());
        let key = |id: &str, name: &str| Caller {
            subject: id.to_owned(),
            proof: Proof::ApiKey { id: id.to_owned(), name: name.to_owned() },
            ..support.clone()
        };
        let all = [&support, &moderator, &sellers[0], &sellers[1], &key("k1", "ann"), &key("k1", "ben")];
        let marks: std::collections::BTreeSet<String> = all.map(mark).into();
        assert_eq!(marks.len(), all.len(), "all differ");
        assert_eq!(mark(&key("k1", "ann")), mark(&key("k2", "ann")), "a new key of the same person");
    }

    #[test]
    fn a_session_ends_and_shows_no_token_in_a_log() {
        let token = Credential::Token("torg_secret".into());
        let session = Session::of(&sealer(), &Caller::local(), token, Time::from_seconds(5)).unwrap();
        assert!(!format!("{session:?}").contains("torg_secret"));
        assert!(!session.is_over(Time::from_seconds(5) + SESSION_TIME_MAX - Duration::from_millis(1)));
        assert!(session.is_over(Time::from_seconds(5) + SESSION_TIME_MAX));
    }

    #[test]
    fn a_recently_checked_session_may_read_while_the_store_is_away() {
        let start = Time::from_seconds(5);
        let token = Credential::Token("torg_secret".into());
        let session = Session::of(&sealer(), &Caller::local(), token, start).unwrap();
        assert!(session.rechecked(&Caller::local(), start).is_none(), "the cookie is written seldom");
        let later = start + UNCHECKED_TIME_MAX * 3;
        assert!(!session.holds_unchecked(later));
        let renewed = session.rechecked(&caller_in_role(Role::Support, None).unwrap(), later).unwrap();
        assert!(renewed.holds_unchecked(later + UNCHECKED_TIME_MAX - Duration::from_millis(1)));
        assert!(!renewed.holds_unchecked(later + UNCHECKED_TIME_MAX));
        assert_eq!(renewed.caller().roles, Roles::NONE.with(Role::Support));
        assert!(sealer().is_form_of(&renewed, &sealer().form_token(&session)), "forms stay good");
        assert!(renewed.is_over(start + SESSION_TIME_MAX), "it does not last longer");
    }

    #[test]
    fn a_chosen_role_gives_no_more_than_that_role() {
        let support = caller_in_role(Role::Support, Some("s1")).unwrap();
        assert_eq!((support.roles, support.seller), (Roles::NONE.with(Role::Support), None));
        let seller = caller_in_role(Role::Seller, Some("s1")).unwrap();
        assert_eq!((seller.roles, seller.seller), (Roles::NONE.with(Role::Seller), Some("s1".into())));
        assert_eq!(caller_in_role(Role::Seller, None), None);
    }
}
