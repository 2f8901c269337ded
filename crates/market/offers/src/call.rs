//! Callers, and idempotency keys: a repeated call has one effect.

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key, Read};
use watcher::{Time, shard_of};
use wire::torg::offers::v1::{Author, StoredAnswer};

use crate::error::{Error, Result, damaged};
use crate::limits::{ATTEMPTS_MAX, COMPLETE_PAUSE};
use crate::offers::Offers;
use crate::status::Mover;
use crate::tables::ANSWERS;

#[derive(Clone, Debug)]
pub struct Call {
    /// For the history.
    pub author: Author,
    /// For the table of moves.
    pub by: Mover,
    /// The idempotency key, if the caller gives one.
    pub request: Option<Request>,
}

/// An idempotency key: a call that is repeated with it has no further effect.
#[derive(Clone, Debug)]
pub struct Request {
    /// Keys of different callers are independent.
    pub caller: String,
    pub key: String,
    /// A hash of the request: another request with the same key is an error.
    pub fingerprint: u64,
}

impl Call {
    #[must_use]
    pub fn by(author: Author, by: Mover) -> Self {
        Self { author, by, request: None }
    }
}

/// The state of a call by its idempotency key.
pub(crate) enum Ticket {
    /// The call has no key.
    None,
    /// The key was not used, or it expired.
    New { key: Key, version: u64, fingerprint: u64, now: Time },
    /// The call was completed; the id of its offer or draft.
    Done(String),
}

/// Whether a row is of a completed call.
pub(crate) fn is_of_call(key: &Key) -> bool {
    key.table().name == ANSWERS.def().name
}

impl Ticket {
    /// Adds to the call's batch that it is completed. The batch is in conflict if the same call
    /// completes first.
    pub(crate) fn done(&self, batch: &mut Batch, subject: &str) {
        let Self::New { key, version, fingerprint, now } = self else { return };
        let answer = StoredAnswer {
            fingerprint: *fingerprint,
            subject: subject.to_owned(),
            at_ms: now.as_ms(),
            ..StoredAnswer::default()
        };
        batch.check(key.clone(), *version).put(key.clone(), version + 1, Bytes::from(answer.encode_to_vec()));
    }
}

impl Offers {
    pub(crate) async fn ticket(&self, call: &Call) -> Result<Ticket> {
        let Some(Request { caller, key: name, fingerprint }) = &call.request else { return Ok(Ticket::None) };
        let key = ANSWERS.key((shard_of(name, self.shards()), &**caller, &**name));
        let row = self.store().get_one(&key).await?;
        let (now, fingerprint) = (self.now(), *fingerprint);
        let Some(row) = row else { return Ok(Ticket::New { key, version: 0, fingerprint, now }) };
        let answer = StoredAnswer::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        if now.since(Time::from_ms(answer.at_ms)) > self.config().key_retention {
            return Ok(Ticket::New { key, version: row.version, fingerprint, now });
        }
        if answer.fingerprint != fingerprint {
            return Err(Error::KeyReused { key: name.clone() });
        }
        self.until_complete(&key).await?;
        Ok(Ticket::Done(answer.subject))
    }

    /// Waits until the whole commit of a row can be read. While a commit is applied, some of its
    /// rows are visible before others; the caller of a completed call reads its offer next. A
    /// snapshot has only whole commits.
    async fn until_complete(&self, key: &Key) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            if self.store().snapshot().await?.get_one(key).await?.is_some() {
                return Ok(());
            }
            tokio::time::sleep(COMPLETE_PAUSE).await;
        }
        let detail = format!("the commit of row {key} is still being applied");
        Err(store::Error::Unavailable { detail }.into())
    }
}
