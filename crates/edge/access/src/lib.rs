//! Who calls, what they may do, and how much of it.
//!
//! - A [`Gate`] judges every call once: it finds the [`Caller`] by a signed token
//!   ([`TokenVerifier`]) or an API key ([`ApiKeys`]), and applies the [`Limiter`]. [`GateLayer`]
//!   puts it before any HTTP service.
//! - A handler takes the [`Caller`] from the request's extensions and calls [`Caller::judge`],
//!   [`Caller::judge_read`], [`Caller::judge_write`] or [`Caller::judge_on`]. One table decides who
//!   may do what (`permission.rs`).
//! - [`require_safe_listen`] restricts a process without access control to its own machine; [`Tls`]
//!   loads certificates.
//!
//! Guarantees:
//! - A token's key determines its algorithm; a token with another algorithm is refused.
//! - Another seller's object looks exactly like a missing one: [`Verdict::Missing`].
//! - No token, secret or anonymous id appears in `Debug`, `Display` or logs of this crate; a forger
//!   gets the same answer for every mistake.
//! - Time and random bytes are passed in; memory is bounded for any input ([`limits`]).
//!
//! Where things are: rules (`role.rs`, `caller.rs`, `permission.rs`), tokens (`jwt/`) and their
//! keys (`keys/`), API keys (`api_keys/`), limits by caller (`limiter.rs`), what ties them together
//! (`gate.rs`, `layer.rs`), `config.rs`, `tls.rs`, `error.rs`.

mod api_keys;
mod caller;
mod config;
mod error;
mod fetch;
mod files;
mod gate;
mod jwt;
mod keys;
mod layer;
mod limiter;
pub mod limits;
mod lru;
mod permission;
mod role;
mod secret;
mod time {
    pub use clock::{Clock, Time};
}
mod tls;

pub use api_keys::{ApiKey, ApiKeys, Entropy, KeyText, NewKey, tables};
pub use caller::{AnonymousId, Caller, Owner, Proof};
pub use config::{Allowance, Config, Mode, TlsConfig, require_safe_listen};
pub use error::{Code, Denial, Error, Refusal, Result};
pub use fetch::{Fetch, HttpsFetch};
pub use gate::{ANONYMOUS_HEADER, Admitted, Gate};
pub use jwt::TokenVerifier;
pub use keys::Algorithm;
pub use layer::{Capped, GateLayer, Guarded, Held, Peer};
pub use limiter::{Busy, Limiter, Permit, network};
pub use permission::{Action, Verdict};
pub use role::{Role, Roles};
pub use secret::shared_secret;
pub use time::{Clock, Time};
pub use tls::Tls;
