//! Who calls.

use std::borrow::Cow;
use std::fmt;

use crate::limits::{ANONYMOUS_ID_BYTES_MAX, ANONYMOUS_ID_BYTES_MIN, SELLER_BYTES_MAX};
use crate::role::{Role, Roles};

/// Who calls, once that is proven. Handlers find it among the extensions of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who it is, as the issuer of the proof names them; empty for an anonymous caller.
    pub subject: String,
    /// The seller that the caller acts as, if any.
    pub seller: Option<String>,
    /// The anonymous seller that the caller was before signing in, or still is.
    pub anonymous: Option<AnonymousId>,
    /// What the caller is to the marketplace.
    pub roles: Roles,
    /// How the caller proved it.
    pub proof: Proof,
}

/// How a caller proved who they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Nothing was asked for: access is off, and the process listens on this machine only.
    Off,
    /// Nothing was shown.
    Nothing,
    /// A signed token.
    Token {
        /// Who issued it, if it says so.
        issuer: String,
    },
    /// An API key.
    ApiKey {
        /// The public part of the key.
        id: String,
        /// What the key is for, in words. Two keys may have the same.
        name: String,
    },
}

/// Whose something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A seller's.
    Seller(&'a str),
    /// A draft of somebody who has not signed in.
    Anonymous(&'a AnonymousId),
}

impl Caller {
    /// Somebody on this machine while access is off: may do everything.
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

    /// Somebody who showed nothing, except perhaps the id under which a draft is kept.
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

    /// Who it is, for people to read: `Anna (3f9k2m7q)` for an API key, which names nobody by its id; the subject for all others. What is kept of a caller so that programs find it again is
    /// the [`subject`](Self::subject).
    #[must_use]
    pub fn shown_name(&self) -> Cow<'_, str> {
        match &self.proof {
            Proof::ApiKey { id, name } if !name.is_empty() => Cow::Owned(format!("{name} ({id})")),
            Proof::ApiKey { id, .. } if self.subject.is_empty() => Cow::Borrowed(id),
            _ => Cow::Borrowed(&self.subject),
        }
    }

    /// Whether nobody knows who it is.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.proof == Proof::Nothing
    }

    /// Whether something of this owner is the caller's own. The role is another question: see
    /// [`may`](Self::may).
    #[must_use]
    pub fn owns(&self, owner: Owner<'_>) -> bool {
        match owner {
            Owner::Seller(id) => self.seller.as_deref() == Some(id),
            Owner::Anonymous(id) => self.anonymous.as_ref() == Some(id),
        }
    }
}

/// The id under which a seller who has not signed in keeps a draft. The client makes it up at random; whoever knows
/// it owns the draft, so it is shown nowhere.
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

    /// The id itself, for the key of a row.
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

/// Whether a text can be the id of a seller: not empty, not long, and nothing in it that a log or a key cannot hold.
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
        assert_eq!(caller.shown_name(), "local");
        caller.subject = "3f9k2m7q".to_owned();
        caller.proof = Proof::ApiKey { id: "3f9k2m7q".to_owned(), name: "Anna".to_owned() };
        assert_eq!(caller.shown_name(), "Anna (3f9k2m7q)");
        caller.proof = Proof::ApiKey { id: "3f9k2m7q".to_owned(), name: String::new() };
        assert_eq!(caller.shown_name(), "3f9k2m7q");
        assert_eq!(Caller::anonymous(None).shown_name(), "");
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
