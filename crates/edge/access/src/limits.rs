//! Every limit of this crate, in one place.

use std::time::Duration;

/// Longest bearer token that is looked at.
pub const TOKEN_BYTES_MAX: usize = 8 * 1024;
/// Largest set of keys that is read, from a file or a URL.
pub const JWKS_BYTES_MAX: usize = 256 * 1024;
/// Most keys in one set.
pub const JWKS_KEYS_MAX: usize = 100;
/// Most keys that one token is tried with: only keys without an id, or tokens without one, have several.
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
/// Shortest anonymous id: whoever knows it owns the draft, so it must be as hard to guess as 128 random bits.
pub const ANONYMOUS_ID_BYTES_MIN: usize = 22;
/// Longest anonymous id.
pub const ANONYMOUS_ID_BYTES_MAX: usize = 64;

/// How long one fetch of a set of keys may take, from the first packet to the last.
pub const FETCH_TIME_MAX: Duration = Duration::from_secs(5);
/// An unknown key id leads to a fetch at most this often.
pub const FETCH_INTERVAL_MIN: Duration = Duration::from_secs(60);
/// Most calls that wait for one fetch; further ones are refused at once.
pub const FETCH_WAITERS_MAX: usize = 64;
/// How often [`Gate::upkeep`](crate::Gate::upkeep) and [`Tls::upkeep`](crate::Tls::upkeep) look at files, ages and uses.
pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(10);

/// How long a looked-up API key is believed. A revocation in another process takes effect within this time.
pub const API_KEY_CACHE_TIME: Duration = Duration::from_secs(5);
/// How long a key that was found good is believed while the store does not answer, by those who want to see how the process fares:
/// they have to be told just then.
pub const API_KEY_UNCHECKED_TIME: Duration = Duration::from_secs(3600);
/// How long such a caller waits for the store to say whether the key still holds.
pub const API_KEY_UNCHECKED_AFTER: Duration = Duration::from_secs(1);
/// Most API keys, known and unknown ones, that are remembered at once.
pub const API_KEYS_CACHED_MAX: usize = 10_000;
/// The use of a key is written down at most this often.
pub const API_KEY_USE_GRAIN: Duration = Duration::from_secs(3600);
/// Longest name of an API key.
pub const API_KEY_NAME_BYTES_MAX: usize = 200;
/// The longest that an API key with an end lives.
pub const API_KEY_LIFETIME_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
/// Most API keys that a list holds.
pub const API_KEYS_LISTED_MAX: usize = 10_000;

/// Callers whose rate and running calls are remembered; beyond, those that were not seen for longest are forgotten.
pub const CALLERS_REMEMBERED_MAX: usize = 65_536;
/// Parts into which the remembered callers are split, so that they do not wait for one lock.
pub const CALLER_PARTS: usize = 16;
