//! Who calls, what they may do, and how much of it.
//!
//! - A [`Gate`] judges every call once: by a signed token ([`TokenVerifier`]) or an API key ([`ApiKeys`]) it finds the [`Caller`], by the
//!   [`Limiter`] it decides whether the call may begin. [`GateLayer`] puts it before any service over HTTP.
//! - A handler takes the [`Caller`] out of the request's extensions and asks it: [`Caller::judge`], [`Caller::judge_read`],
//!   [`Caller::judge_write`], [`Caller::judge_on`]. Who may do what stands in one table (`permission.rs`).
//! - [`require_safe_listen`] keeps a process without access control on its own machine; [`Tls`] loads certificates.
//!
//! What is promised:
//! - A token's key decides its algorithm; a token that says another is refused.
//! - What is another seller's looks exactly like what does not exist: [`Verdict::Missing`].
//! - No token, secret or anonymous id is ever shown by `Debug`, `Display` or a log of this crate; a forger hears the same words whatever was wrong.
//! - Time and random bytes are passed in; memory is bounded, whatever callers send ([`limits`]).
//!
//! Where things are: rules (`role.rs`, `caller.rs`, `permission.rs`), tokens (`jwt/`) and their keys (`keys/`), API keys (`api_keys/`),
//! limits by caller (`limiter.rs`), what ties them together (`gate.rs`, `layer.rs`), `config.rs`, `tls.rs`, `error.rs`.

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
