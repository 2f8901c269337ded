//! Every limit of this crate, in one place.

use std::time::Duration;

/// Longest accepted bearer token.
pub const TOKEN_BYTES_MAX: usize = 8 * 1024;
/// Largest set of keys that is read, from a file or a URL.
pub const JWKS_BYTES_MAX: usize = 256 * 1024;
/// Most keys in one set.
pub const JWKS_KEYS_MAX: usize = 100;
/// Keys tried for one token: only keys or tokens without an id have several candidates.
pub const KEYS_TRIED_MAX: usize = 8;
/// Shortest secret for HS256: as long as the hash, as RFC 7518 demands.
pub const HS256_SECRET_BYTES_MIN: usize = 32;
/// Shortest and longest modulus of an RSA key.
pub const RSA_BITS_MIN: usize = 2048;
/// Longest modulus of an RSA key.
pub const RSA_BITS_MAX: usize = 8192;
/// Largest file of keys, secrets or certificates that is read.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Longest subject of a token.
pub const SUBJECT_BYTES_MAX: usize = 256;
/// Longest id of a seller.
pub const SELLER_BYTES_MAX: usize = 128;
/// Shortest anonymous id: it must be as hard to guess as 128 random bits.
pub const ANONYMOUS_ID_BYTES_MIN: usize = 22;
/// Longest anonymous id.
pub const ANONYMOUS_ID_BYTES_MAX: usize = 64;

/// Timeout of one fetch of a key set.
pub const FETCH_TIME_MAX: Duration = Duration::from_secs(5);
/// Minimum time between fetches for unknown key ids.
pub const FETCH_INTERVAL_MIN: Duration = Duration::from_secs(60);
/// Calls that wait for one fetch; further ones are refused.
pub const FETCH_WAITERS_MAX: usize = 64;
/// How often [`Gate::upkeep`](crate::Gate::upkeep) and [`Tls::upkeep`](crate::Tls::upkeep) run.
pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(10);

/// How long a looked-up API key is cached. A revocation in another process takes effect within this
/// time.
pub const API_KEY_CACHE_TIME: Duration = Duration::from_secs(5);
/// How long a valid key is accepted while the store is unavailable, for status pages that must work
/// then.
pub const API_KEY_UNCHECKED_TIME: Duration = Duration::from_secs(3600);
/// How long such a call waits for the store.
pub const API_KEY_UNCHECKED_AFTER: Duration = Duration::from_secs(1);
/// Cached API keys, including unknown ones.
pub const API_KEYS_CACHED_MAX: usize = 10_000;
/// Uses of a key are recorded at most this often.
pub const API_KEY_USE_GRAIN: Duration = Duration::from_secs(3600);
/// Longest name of an API key.
pub const API_KEY_NAME_BYTES_MAX: usize = 200;
/// Longest lifetime of an API key.
pub const API_KEY_LIFETIME_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
/// Most API keys that a list holds.
pub const API_KEYS_LISTED_MAX: usize = 10_000;

/// Callers that are tracked; beyond this the least recently seen are forgotten.
pub const CALLERS_REMEMBERED_MAX: usize = 65_536;
/// Shards of the tracked callers, to reduce lock contention.
pub const CALLER_PARTS: usize = 16;
