//! The gate: every call passes here once, and either has a [`Caller`] and a [`Permit`] behind it or is refused.

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

/// The header with the id under which somebody who has not signed in keeps a draft.
pub const ANONYMOUS_HEADER: &str = "x-torg-anonymous";
const FORWARDED_HEADER: &str = "x-forwarded-for";

/// Decides who calls and whether the call may begin. Cheap to clone; all clones are one gate.
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

/// Who says whether an API key holds.
#[derive(Clone, Copy)]
enum Store {
    /// The store alone.
    Asked,
    /// The store, or what it said not long ago if it does not answer.
    MayBeAway,
}

/// A call that may begin.
#[derive(Debug)]
pub struct Admitted {
    /// Who calls.
    pub caller: Caller,
    /// Keep it until the call has ended, its answer included.
    pub permit: Permit,
    /// The largest request that this caller may send, if the caller has a limit.
    pub request_bytes_max: Option<u64>,
}

impl Gate {
    /// A gate with the keys that the files hold. A URL of keys is fetched by the first [`refresh`](Self::refresh).
    pub fn new(config: &Config, fetch: Arc<dyn Fetch>, clock: Clock) -> crate::Result<Self> {
        config.validate()?;
        let tokens = TokenVerifier::load(config, fetch)?;
        let limiter = Limiter::new(config);
        let inner = Inner { config: config.clone(), clock, tokens, api_keys: OnceLock::new(), limiter };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Believes these API keys from now on, if the configuration wants any. Before, their holders are told to try again.
    pub fn open_api_keys(&self, keys: ApiKeys) {
        // Only the first counts: a process has one store.
        let _ = self.inner.api_keys.set(keys);
    }

    /// Judges one call by its headers and the address of its peer. `peer` is `None` only where there is none, as in tests.
    pub async fn admit(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Admitted, Denial> {
        self.admit_to(Store::Asked, headers, peer).await
    }

    /// The same for a call that shows nothing of the store, and has to be answered just when that is away: see
    /// [`ApiKeys::verify_without_store`].
    pub async fn admit_without_store(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Admitted, Denial> {
        self.admit_to(Store::MayBeAway, headers, peer).await
    }

    async fn admit_to(
        &self,
        store: Store,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Admitted, Denial> {
        let address = self.address(headers, peer);
        let caller = match self.identify_by(store, headers).await {
            Ok(caller) => caller,
            Err(refusal) => return Err(self.refuse(&refusal, address)),
        };
        let permit = self.inner.limiter.begin(&caller, address, self.inner.clock.now()).map_err(denied)?;
        let request_bytes_max = self.inner.limiter.request_bytes_max(&caller);
        Ok(Admitted { caller, permit, request_bytes_max })
    }

    /// Who calls, by the headers alone.
    pub async fn identify(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        self.identify_by(Store::Asked, headers).await
    }

    async fn identify_by(&self, store: Store, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if self.inner.config.mode == Mode::Off {
            return if names_this_machine(headers) { Ok(Caller::local()) } else { Err(Refusal::ForeignHost) };
        }
        let anonymous = anonymous_id(headers)?;
        match bearer(headers)? {
            Some(token) => Ok(Caller { anonymous, ..self.believe(store, token).await? }),
            None if self.inner.config.anonymous => Ok(Caller::anonymous(anonymous)),
            None => Err(Refusal::Nothing),
        }
    }

    /// Calls that run now.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.inner.limiter.running()
    }

    /// Brings the keys up to date: files that changed, a URL whose keys are old. What fails leaves the old keys in use.
    pub async fn refresh(&self) -> crate::Result<()> {
        let files = self.inner.tokens.reread_files();
        self.inner.tokens.refresh(self.inner.clock.now()).await?;
        if files? {
            tracing::info!("the files of keys have changed and were read again");
        }
        Ok(())
    }

    /// Keeps the keys up to date and writes down which API keys were used, for as long as the process runs. Spawn it, and abort it
    /// at the end.
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

    async fn believe(&self, store: Store, token: &str) -> Result<Caller, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::TooLong { bytes: token.len() });
        }
        if self.inner.config.api_keys && token.starts_with(KEY_PREFIX) {
            let closed = || Refusal::KeysUnreachable { why: "the store is not open yet".to_owned() };
            let keys = self.inner.api_keys.get().ok_or_else(closed)?;
            return match store {
                Store::Asked => keys.verify(token).await,
                Store::MayBeAway => keys.verify_without_store(token).await,
            };
        }
        self.inner.tokens.verify(token, self.inner.clock.now()).await
    }

    /// Logs why, and tells the caller no more than they may know. Wrong proofs count against their address.
    fn refuse(&self, refusal: &Refusal, address: IpAddr) -> Denial {
        if refusal.is_ours() {
            tracing::warn!(why = %refusal, "a caller cannot be judged");
            return Denial::from_refusal(refusal);
        }
        tracing::debug!(why = %refusal, %address, "a caller is refused");
        match self.inner.limiter.note_refused(address, self.inner.clock.now()) {
            Ok(()) => Denial::from_refusal(refusal),
            Err(busy) => denied(busy),
        }
    }

    /// The caller's address: the peer's, or what the outermost of our own proxies saw.
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

/// The bearer token, if there is an authorization header. Any other is refused: nobody who shows something is taken for anonymous.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).into_iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().map_err(|_| Refusal::Header)?;
    let (scheme, token) = text.trim().split_once(' ').ok_or(Refusal::Header)?;
    let single = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    let token = token.trim();
    if single && !token.is_empty() { Ok(Some(token)) } else { Err(Refusal::Header) }
}

/// While access is off: whether the caller knows us by a name of this machine. A page of another site that has its own name
/// point here (DNS rebinding) does not.
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
