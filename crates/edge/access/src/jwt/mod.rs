//! Signed tokens (JWT): verification and mapping to callers.
//!
//! The key determines the algorithm. A token's `alg` is only compared with it, so neither `none`
//! nor an RSA key used as a shared secret can pass. The signature is checked before any claim.

mod claims;
mod compact;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use claims::ClaimRules;
use compact::Compact;

use crate::caller::Caller;
use crate::config::Config;
use crate::error::Refusal;
use crate::fetch::Fetch;
use crate::keys::{Key, Keyring};
use crate::limits::KEYS_TRIED_MAX;
use crate::time::Time;

/// Verifies signed tokens with the configured keys.
pub struct TokenVerifier {
    keyring: Keyring,
    rules: ClaimRules,
}

impl TokenVerifier {
    /// Reads the configured files. A configured URL is fetched by [`refresh`](Self::refresh) or by
    /// the first token.
    pub fn load(config: &Config, fetch: Arc<dyn Fetch>) -> crate::Result<Self> {
        Ok(Self { keyring: Keyring::load(config, fetch)?, rules: ClaimRules::new(config) })
    }

    /// The caller with this token, if it is valid now.
    pub async fn verify(&self, token: &str, now: Time) -> Result<Caller, Refusal> {
        let token = Compact::parse(token)?;
        if let Err(refusal) = self.judge_signature(&token) {
            // The key with this id is known, so another fetch would not help.
            let known = self.keyring.candidates(token.kid()).iter().any(|key| key.is_named(token.kid()));
            if known || !self.keyring.fetch_for_unknown_key(now).await {
                return Err(refusal);
            }
            self.judge_signature(&token)?;
        }
        self.rules.caller(token.payload(), now)
    }

    /// Fetches old keys again. On failure the old ones stay in use.
    pub async fn refresh(&self, now: Time) -> crate::Result<()> {
        self.keyring.refresh(now).await
    }

    /// Reloads changed key files and returns whether they changed. On failure the old keys stay in
    /// use.
    pub fn reread_files(&self) -> crate::Result<bool> {
        self.keyring.reread()
    }

    /// Whether a key of the token's algorithm signed it.
    fn judge_signature(&self, token: &Compact<'_>) -> Result<(), Refusal> {
        let candidates = self.keyring.candidates(token.kid());
        let mut fitting =
            candidates.iter().filter(|key| key.algorithm().name() == token.algorithm()).peekable();
        let Some(first) = fitting.peek().copied() else {
            return Err(self.no_key(token, candidates.first()));
        };
        if fitting.take(KEYS_TRIED_MAX).any(|key| key.verifies(token.signed(), token.signature())) {
            return Ok(());
        }
        Err(Refusal::BadSignature { key: first.to_string() })
    }

    fn no_key(&self, token: &Compact<'_>, other: Option<&Key>) -> Refusal {
        match (other, token.kid()) {
            (Some(key), _) => {
                Refusal::WrongAlgorithm { token: token.algorithm().to_owned(), key: key.algorithm().name() }
            }
            (None, _) if self.keyring.is_url_pending() => Refusal::NoKeysYet,
            (None, Some(kid)) => Refusal::UnknownKey { kid: kid.to_owned() },
            (None, None) => Refusal::NoKeyFor { algorithm: token.algorithm().to_owned() },
        }
    }
}

impl fmt::Debug for TokenVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenVerifier").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Leeway in both directions, for clock differences.
fn over(end: Time, leeway: Duration, now: Time) -> bool {
    now >= end + leeway
}

fn not_begun(start: Time, leeway: Duration, now: Time) -> bool {
    now + leeway < start
}
