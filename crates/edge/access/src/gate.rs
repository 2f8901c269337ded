//! The gate: every call passes it once and gets a [`Caller`] and a [`Permit`], or is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use http::header::{AUTHORIZATION, HOST};
use http::uri::Authority;

use crate::api_keys::{ApiKeys, KEY_PREFIX};
use crate::caller::{AnonymousId, Caller};
use crate::config::{Config, Mode, is_this_machine};
use crate::error::{Code, Denial, Refusal};
use crate::fetch::Fetch;
use crate::jwt::TokenVerifier;
use crate::limiter::{Busy, Limiter, Permit};
use crate::limits::{TOKEN_BYTES_MAX, UPKEEP_INTERVAL};
use crate::time::Clock;

/// The header with the id of an anonymous visitor's drafts.
pub const ANONYMOUS_HEADER: &str = "x-torg-anonymous";
const FORWARDED_HEADER: &str = "x-forwarded-for";

/// Authenticates callers and applies limits. Cheap to clone; all clones share state.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    clock: Clock,
    tokens: TokenVerifier,
    /// Set once the store is open.
    api_keys: OnceLock<ApiKeys>,
    limiter: Limiter,
}

/// How API keys are checked.
#[derive(Clone, Copy)]
enum KeyCheck {
    /// By the store.
    Strict,
    /// By the store, or by the cache if the store does not answer.
    CacheAllowed,
}

/// An admitted call.
#[derive(Debug)]
pub struct Admitted {
    pub caller: Caller,
    /// Hold it until the call has ended, including its answer.
    pub permit: Permit,
    /// The largest request of this caller; `None`: unlimited.
    pub request_bytes_max: Option<u64>,
}

impl Gate {
    /// Loads the key files. A key URL is fetched by the first [`refresh`](Self::refresh).
    pub fn new(config: &Config, fetch: Arc<dyn Fetch>, clock: Clock) -> crate::Result<Self> {
        config.validate()?;
        let tokens = TokenVerifier::load(config, fetch)?;
        let limiter = Limiter::new(config);
        let inner = Inner { config: config.clone(), clock, tokens, api_keys: OnceLock::new(), limiter };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Accepts these API keys from now on. Before, their holders are asked to retry.
    pub fn open_api_keys(&self, keys: ApiKeys) {
        // A process has one store, so only the first call counts.
        let _ = self.inner.api_keys.set(keys);
    }

    /// Judges a call by its headers and peer address. `peer` is `None` only in tests.
    pub async fn admit(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Admitted, Denial> {
        self.admit_to(KeyCheck::Strict, headers, peer).await
    }

    /// The same for calls that reveal nothing of the store and must work while it is unavailable:
    /// see [`ApiKeys::verify_without_store`].
    pub async fn admit_without_store(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Admitted, Denial> {
        self.admit_to(KeyCheck::CacheAllowed, headers, peer).await
    }

    async fn admit_to(
        &self,
        check: KeyCheck,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Admitted, Denial> {
        let address = self.address(headers, peer);
        let caller = match self.identify_by(check, headers).await {
            Ok(caller) => caller,
            Err(refusal) => return Err(self.refuse(&refusal, address)),
        };
        let permit = self.inner.limiter.begin(&caller, address, self.inner.clock.now()).map_err(denied)?;
        let request_bytes_max = self.inner.limiter.request_bytes_max(&caller);
        Ok(Admitted { caller, permit, request_bytes_max })
    }

    /// Authenticates a caller by the headers alone.
    pub async fn identify(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        self.identify_by(KeyCheck::Strict, headers).await
    }

    async fn identify_by(&self, check: KeyCheck, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if self.inner.config.mode == Mode::Off {
            return if names_this_machine(headers) { Ok(Caller::local()) } else { Err(Refusal::ForeignHost) };
        }
        let anonymous = anonymous_id(headers)?;
        match bearer(headers)? {
            Some(token) => Ok(Caller { anonymous, ..self.authenticate(check, token).await? }),
            None if self.inner.config.anonymous => Ok(Caller::anonymous(anonymous)),
            None => Err(Refusal::Nothing),
        }
    }

    /// Calls in progress.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.inner.limiter.running()
    }

    /// Reloads changed files and fetches old keys. On failure the old keys stay in use.
    pub async fn refresh(&self) -> crate::Result<()> {
        let files = self.inner.tokens.reread_files();
        self.inner.tokens.refresh(self.inner.clock.now()).await?;
        if files? {
            tracing::info!("the files of keys have changed and were read again");
        }
        Ok(())
    }

    /// Refreshes keys and records uses of API keys until it is aborted.
    pub async fn upkeep(&self) {
        loop {
            tokio::time::sleep(UPKEEP_INTERVAL).await;
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "the keys of tokens cannot be brought up to date; the old ones stay in use");
            }
            let Some(keys) = self.inner.api_keys.get() else { continue };
            if let Err(error) = keys.write_uses().await {
                tracing::warn!(%error, "cannot write down which API keys were used");
            }
        }
    }

    async fn authenticate(&self, check: KeyCheck, token: &str) -> Result<Caller, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::TooLong { bytes: token.len() });
        }
        if self.inner.config.api_keys && token.starts_with(KEY_PREFIX) {
            let closed = || Refusal::KeysUnreachable { why: "the store is not open yet".to_owned() };
            let keys = self.inner.api_keys.get().ok_or_else(closed)?;
            return match check {
                KeyCheck::Strict => keys.verify(token).await,
                KeyCheck::CacheAllowed => keys.verify_without_store(token).await,
            };
        }
        self.inner.tokens.verify(token, self.inner.clock.now()).await
    }

    /// Logs the reason and returns the public answer. Failures count against the address.
    fn refuse(&self, refusal: &Refusal, address: IpAddr) -> Denial {
        if refusal.is_internal() {
            tracing::warn!(why = %refusal, "a caller cannot be judged");
            return Denial::from_refusal(refusal);
        }
        tracing::debug!(why = %refusal, %address, "a caller is refused");
        match self.inner.limiter.note_refused(address, self.inner.clock.now()) {
            Ok(()) => Denial::from_refusal(refusal),
            Err(busy) => denied(busy),
        }
    }

    /// The caller's address: the peer's, or what the outermost of the configured proxies saw.
    #[must_use]
    pub fn address(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> IpAddr {
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let Some(back) = (self.inner.config.proxies as usize).checked_sub(1) else { return peer };
        let values = headers.get_all(FORWARDED_HEADER).into_iter().filter_map(|value| value.to_str().ok());
        let hops: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        hops.iter().rev().nth(back).and_then(|hop| hop.parse().ok()).unwrap_or(peer)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

/// The bearer token. Other authorization headers are refused, never treated as anonymous.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).into_iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().map_err(|_| Refusal::Header)?;
    let (scheme, token) = text.trim().split_once(' ').ok_or(Refusal::Header)?;
    let single = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    let token = token.trim();
    if single && !token.is_empty() { Ok(Some(token)) } else { Err(Refusal::Header) }
}

/// With access control off: whether `Host` names this machine. A DNS rebinding page does not.
fn names_this_machine(headers: &HeaderMap) -> bool {
    headers.get_all(HOST).into_iter().all(|host| {
        let host: Option<Authority> = host.to_str().ok().and_then(|host| host.parse().ok());
        host.is_some_and(|host| is_this_machine(host.host()))
    })
}

fn anonymous_id(headers: &HeaderMap) -> Result<Option<AnonymousId>, Refusal> {
    let Some(value) = headers.get(ANONYMOUS_HEADER) else { return Ok(None) };
    let id = value.to_str().ok().and_then(AnonymousId::new);
    id.map(Some).ok_or(Refusal::BadAnonymousId)
}

fn denied(busy: Busy) -> Denial {
    let message = match busy {
        Busy::TooOften(_) => "too many calls, try again later",
        Busy::TooManyRunning(_) => "too many calls of this caller run already, try again later",
        Busy::Full(_) => "too many calls run already, try again later",
    };
    Denial { retry_after: Some(busy.wait()), ..Denial::new(Code::ResourceExhausted, message) }
}
