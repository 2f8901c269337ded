//! API keys: created here, stored as hashes, shown once.
//!
//! A key is `torg_<id>_<secret>`. The id (8 letters and digits) is public and names the row; the
//! secret is 32 random bytes. Plain SHA-256 is enough: slow hashes protect guessable passwords, and
//! 2^256 secrets cannot be enumerated.

mod cache;
mod rows;
mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ring::rand::SecureRandom as _;
use store::{Batch, Read as _, Store};

use cache::{Cache, Found};
pub use rows::tables;
use rows::{KEYS, KeyRow, USES};
pub use text::KeyText;
pub(crate) use text::PREFIX as KEY_PREFIX;

use crate::caller::{Caller, Proof, is_seller_id};
use crate::error::Refusal;
use crate::limits::{
    API_KEY_LIFETIME_MAX, API_KEY_NAME_BYTES_MAX, API_KEY_UNCHECKED_AFTER, API_KEYS_LISTED_MAX,
};
use crate::role::{Role, Roles};
use crate::time::{Clock, Time};
use crate::{Error, Result};

/// Attempts of a conditional write when others change the row at the same time.
const ATTEMPTS: usize = 8;

/// The API keys of one store. Cheap to clone; all clones share the cache.
#[derive(Clone)]
pub struct ApiKeys {
    store: Store,
    clock: Clock,
    entropy: Entropy,
    cache: Arc<Cache>,
}

/// The properties of a new key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// Its purpose, for people.
    pub name: String,
    pub roles: Roles,
    /// The seller it acts as; required for [`Role::Seller`].
    pub seller: Option<String>,
    /// `None`: it does not expire.
    pub lifetime: Option<Duration>,
}

/// A key without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: String,
    /// Its purpose, for people.
    pub name: String,
    pub roles: Roles,
    /// The seller it acts as.
    pub seller: Option<String>,
    pub created: Time,
    pub expires: Option<Time>,
    pub revoked: Option<Time>,
    /// Accurate to about an hour.
    pub last_used: Option<Time>,
}

impl ApiKeys {
    /// The store must be opened with [`tables`].
    #[must_use]
    pub fn new(store: Store, clock: Clock, entropy: Entropy) -> Self {
        Self { store, clock, entropy, cache: Arc::default() }
    }

    /// Creates a key. Its text is returned only here.
    pub async fn create(&self, new: NewKey) -> Result<(ApiKey, KeyText)> {
        judge_new(&new)?;
        let created = self.clock.now();
        for _ in 0..ATTEMPTS {
            let text = KeyText::random(&self.entropy)?;
            let row = KeyRow {
                name: new.name.clone(),
                hash: text.hash(),
                roles: new.roles,
                seller: new.seller.clone(),
                created,
                expires: new.lifetime.map(|lifetime| created + lifetime),
                revoked: None,
            };
            let key = KEYS.key((0, text.id()));
            let mut batch = Batch::new();
            batch.check_absent(key.clone()).put(key, 1, row.to_bytes());
            if self.store.commit(batch).await?.is_applied() {
                self.cache.forget(text.id());
                return Ok((row.shown(text.id(), None), text));
            }
        }
        Err(Error::NewKey { why: "every id that was drawn is taken".to_owned() })
    }

    /// All keys by id, including revoked and expired ones.
    pub async fn list(&self) -> Result<Vec<ApiKey>> {
        let mut keys = Vec::new();
        let mut scan = KEYS.prefix((0,));
        loop {
            let page = self.store.scan(&scan).await?;
            let uses: Vec<_> =
                page.rows.iter().map(|row| rows::id(row).map(|id| USES.key((0, id)))).collect();
            let uses = self.store.get(&uses.into_iter().collect::<Result<Vec<_>>>()?).await?;
            for (row, used) in page.rows.iter().zip(uses) {
                let id = rows::id(row)?;
                keys.push(KeyRow::from_bytes(&id, &row.value)?.shown(&id, rows::used_at(used.as_ref())));
            }
            match page.next {
                Some(next) if keys.len() < API_KEYS_LISTED_MAX => scan = KEYS.prefix((0,)).after(next),
                _ => return Ok(keys),
            }
        }
    }

    /// Revokes a key: immediately in this process, within
    /// [`API_KEY_CACHE_TIME`](crate::limits::API_KEY_CACHE_TIME) in others. Revoking it again
    /// changes nothing.
    pub async fn revoke(&self, id: &str) -> Result<ApiKey> {
        let no_such = || Error::NoSuchKey { id: id.to_owned() };
        if !text::is_id(id) {
            return Err(no_such());
        }
        let key = KEYS.key((0, id));
        for _ in 0..ATTEMPTS {
            let found = self.store.get(&[key.clone(), USES.key((0, id))]).await?;
            let Some(row) = found.first().and_then(Option::as_ref) else { return Err(no_such()) };
            let mut changed = KeyRow::from_bytes(id, &row.value)?;
            let used = rows::used_at(found.get(1).and_then(Option::as_ref));
            if changed.revoked.is_some() {
                return Ok(changed.shown(id, used));
            }
            changed.revoked = Some(self.clock.now());
            let mut batch = Batch::new();
            batch.check(key.clone(), row.version).put(key.clone(), row.version + 1, changed.to_bytes());
            if self.store.commit(batch).await?.is_applied() {
                self.cache.forget(id);
                return Ok(changed.shown(id, used));
            }
        }
        Err(Error::Busy { id: id.to_owned() })
    }

    /// The caller with this key, if it is valid now.
    pub async fn verify(&self, token: &str) -> Result<Caller, Refusal> {
        let (text, now) = (parse(token)?, self.clock.now());
        let found = self.look_up(text.id(), now).await?;
        self.judge(&text, found, now)
    }

    /// The same for calls that must work while the store is unavailable and reveal nothing of it: a
    /// key that was valid within [`API_KEY_UNCHECKED_TIME`](crate::limits::API_KEY_UNCHECKED_TIME)
    /// is then accepted.
    pub async fn verify_without_store(&self, token: &str) -> Result<Caller, Refusal> {
        let (text, now) = (parse(token)?, self.clock.now());
        let Some(known) = self.cache.get_unchecked(text.id(), now) else { return self.verify(token).await };
        let found = match tokio::time::timeout(API_KEY_UNCHECKED_AFTER, self.look_up(text.id(), now)).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) | Err(_) => Some(known),
        };
        self.judge(&text, found, now)
    }

    fn judge(&self, text: &KeyText, found: Found, now: Time) -> Result<Caller, Refusal> {
        let id = text.id().to_owned();
        let Some(row) = found else { return Err(Refusal::UnknownApiKey { id }) };
        if !text.matches(&row.hash) {
            return Err(Refusal::WrongSecret { id });
        }
        if let Some(at) = row.revoked {
            return Err(Refusal::Revoked { id, at });
        }
        if let Some(at) = row.expires.filter(|at| *at <= now) {
            return Err(Refusal::ApiKeyExpired { id, at });
        }
        self.cache.note_use(&id, now);
        let (seller, roles) = (row.seller.clone(), row.roles);
        let proof = Proof::ApiKey { id: id.clone(), name: row.name.clone() };
        Ok(Caller { subject: id, seller, anonymous: None, roles, proof })
    }

    /// Records which keys were used since the last call, at most once an hour by key. A crash loses
    /// only these records.
    pub async fn write_uses(&self) -> Result<usize> {
        let uses = self.cache.uses_to_write();
        let mut batch = Batch::new();
        for (id, at) in &uses {
            batch.set(USES.key((0, id.as_str())), at.as_ms().to_string());
        }
        // A batch without checks cannot conflict.
        let _ = self.store.commit(batch).await?;
        self.cache.uses_written(&uses);
        Ok(uses.len())
    }

    async fn look_up(&self, id: &str, now: Time) -> Result<Found, Refusal> {
        if let Some(found) = self.cache.get(id, now) {
            return Ok(found);
        }
        let generation = self.cache.generation();
        let found =
            self.read(id).await.map_err(|error| Refusal::KeysUnreachable { why: error.to_string() })?;
        self.cache.put(id, found.clone(), now, generation);
        Ok(found)
    }

    async fn read(&self, id: &str) -> Result<Found> {
        let row = self.store.get_one(&KEYS.key((0, id))).await?;
        row.map(|row| KeyRow::from_bytes(id, &row.value).map(Arc::new)).transpose()
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeys")
    }
}

fn parse(token: &str) -> Result<KeyText, Refusal> {
    KeyText::parse(token).ok_or(Refusal::Malformed { what: "no API key" })
}

fn judge_new(new: &NewKey) -> Result<()> {
    let wrong = |why: String| Err(Error::NewKey { why });
    let NewKey { name, roles, seller, lifetime } = new;
    if name.trim().is_empty() || name.len() > API_KEY_NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return wrong(format!("the name must be one line of 1 to {API_KEY_NAME_BYTES_MAX} bytes"));
    }
    if roles.is_empty() {
        return wrong("it needs a role".to_owned());
    }
    match seller {
        Some(seller) if !is_seller_id(seller) => {
            return wrong("the seller's id is empty, too long or odd".to_owned());
        }
        None if roles.has(Role::Seller) => return wrong("the role seller needs a seller's id".to_owned()),
        _ => {}
    }
    if *lifetime == Some(Duration::ZERO) {
        return wrong("its lifetime is zero".to_owned());
    }
    if lifetime.is_some_and(|lifetime| lifetime > API_KEY_LIFETIME_MAX) {
        return wrong("it would live for more than a hundred years: leave its end out".to_owned());
    }
    Ok(())
}

/// The source of random bytes.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) -> Result<()> + Send + Sync;

impl Entropy {
    /// The random bytes of the operating system.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|bytes| ring::rand::SystemRandom::new().fill(bytes).map_err(|_| Error::NoEntropy))
    }

    /// A function that fills the bytes; for tests.
    pub fn new(fill: impl Fn(&mut [u8]) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    pub(crate) fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        (self.0)(bytes)
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}
