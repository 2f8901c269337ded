//! The authenticated caller.

use std::borrow::Cow;
use std::fmt;

use crate::limits::{ANONYMOUS_ID_BYTES_MAX, ANONYMOUS_ID_BYTES_MIN, SELLER_BYTES_MAX};
use crate::role::{Role, Roles};

/// The authenticated caller. Handlers find it in the extensions of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name that the issuer of the proof gives; empty for an anonymous caller.
    pub subject: String,
    pub seller: Option<String>,
    /// The anonymous id of a caller who has not signed in, or had one before.
    pub anonymous: Option<AnonymousId>,
    pub roles: Roles,
    pub proof: Proof,
}

/// How a caller was authenticated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Access control is off, and the process listens on this machine only.
    Off,
    /// No credential.
    Nothing,
    /// A signed token.
    Token {
        /// Empty if the token names none.
        issuer: String,
    },
    /// An API key.
    ApiKey {
        /// The public part of the key.
        id: String,
        /// The name of the key; not unique.
        name: String,
    },
}

/// The owner of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A seller's.
    Seller(&'a str),
    /// The draft of a visitor who has not signed in.
    Anonymous(&'a AnonymousId),
}

impl Caller {
    /// A caller on this machine with access control off: may do everything.
    #[must_use]
    pub fn local() -> Self {
        Self {
            subject: "local".to_owned(),
            seller: None,
            anonymous: None,
            roles: Roles::NONE.with(Role::Admin).with(Role::Service),
            proof: Proof::Off,
        }
    }

    /// A caller without a credential, possibly with the id of a draft.
    #[must_use]
    pub fn anonymous(id: Option<AnonymousId>) -> Self {
        Self {
            subject: String::new(),
            seller: None,
            anonymous: id,
            roles: Roles::NONE,
            proof: Proof::Nothing,
        }
    }

    /// The name for people: `Anna (3f9k2m7q)` for an API key, else the subject. Stored references
    /// use the [`subject`](Self::subject).
    #[must_use]
    pub fn display_name(&self) -> Cow<'_, str> {
        match &self.proof {
            Proof::ApiKey { id, name } if !name.is_empty() => Cow::Owned(format!("{name} ({id})")),
            Proof::ApiKey { id, .. } if self.subject.is_empty() => Cow::Borrowed(id),
            _ => Cow::Borrowed(&self.subject),
        }
    }

    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.proof == Proof::Nothing
    }

    /// Whether the caller owns this. Roles are checked separately: see [`may`](Self::may).
    #[must_use]
    pub fn owns(&self, owner: Owner<'_>) -> bool {
        match owner {
            Owner::Seller(id) => self.seller.as_deref() == Some(id),
            Owner::Anonymous(id) => self.anonymous.as_ref() == Some(id),
        }
    }
}

/// The id of drafts of a visitor who has not signed in. The client chooses it at random; knowing it
/// means owning the draft, so it is never shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnonymousId(String);

impl AnonymousId {
    /// An id of letters, digits, `-` and `_`, long enough not to be guessed.
    #[must_use]
    pub fn new(id: &str) -> Option<Self> {
        let length = (ANONYMOUS_ID_BYTES_MIN..=ANONYMOUS_ID_BYTES_MAX).contains(&id.len());
        let letters = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (length && letters).then(|| Self(id.to_owned()))
    }

    /// The id itself, for keys of rows.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AnonymousId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnonymousId(***)")
    }
}

/// Whether a text is a valid seller id: not empty, not too long, no control characters.
pub(crate) fn is_seller_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= SELLER_BYTES_MAX && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anonymous_id_is_long_enough_not_to_be_guessed_and_is_never_shown() {
        let id = AnonymousId::new("0123456789abcdefABCD-_").unwrap();
        assert_eq!(format!("{id:?}"), "AnonymousId(***)");
        let caller = format!("{:?}", Caller::anonymous(Some(id)));
        assert!(!caller.contains("0123456789"), "{caller}");
        for wrong in ["", "short", "0123456789abcdefABCD-", "0123456789abcdef ABCD-_", &"x".repeat(65)] {
            assert_eq!(AnonymousId::new(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn people_read_the_name_of_a_key_and_the_subject_of_everybody_else() {
        let mut caller = Caller::local();
        assert_eq!(caller.display_name(), "local");
        caller.subject = "3f9k2m7q".to_owned();
        caller.proof = Proof::ApiKey { id: "3f9k2m7q".to_owned(), name: "Anna".to_owned() };
        assert_eq!(caller.display_name(), "Anna (3f9k2m7q)");
        caller.proof = Proof::ApiKey { id: "3f9k2m7q".to_owned(), name: String::new() };
        assert_eq!(caller.display_name(), "3f9k2m7q");
        assert_eq!(Caller::anonymous(None).display_name(), "");
    }

    #[test]
    fn an_anonymous_id_and_a_seller_of_the_same_name_are_two_owners() {
        let name = "0123456789abcdefABCD-_";
        let id = AnonymousId::new(name).unwrap();
        let caller = Caller::anonymous(Some(id.clone()));
        assert!(caller.owns(Owner::Anonymous(&id)));
        assert!(!caller.owns(Owner::Seller(name)));
        assert!(!Caller::anonymous(None).owns(Owner::Anonymous(&id)));
    }
}
