//! Who calls, and which call it is: the same call made twice has one effect.

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

/// Who changes something.
#[derive(Clone, Debug)]
pub struct Call {
    /// As the history names them.
    pub author: Author,
    /// What the table of moves takes them for.
    pub by: Mover,
    /// Which call it is, if its caller says so.
    pub request: Option<Request>,
}

/// A call that its caller can make again without a further effect.
#[derive(Clone, Debug)]
pub struct Request {
    /// Keys of one caller say nothing to another.
    pub caller: String,
    /// The idempotency key.
    pub key: String,
    /// A hash of all that the call asks for, so that another one under the same key is noticed.
    pub fingerprint: u64,
}

impl Call {
    /// A call that is not known by a key.
    #[must_use]
    pub fn by(author: Author, by: Mover) -> Self {
        Self { author, by, request: None }
    }
}

/// What is known of a call by its key.
pub(crate) enum Ticket {
    /// It has no key.
    None,
    /// It has not been made yet, or too long ago.
    New(NewTicket),
    /// It was made, and this is what it was about: the id of an offer or of a draft.
    Done(String),
}

pub(crate) struct NewTicket {
    key: Key,
    version: u64,
    fingerprint: u64,
    now: Time,
}

/// Whether a row says that a call was done.
pub(crate) fn is_of_a_call(key: &Key) -> bool {
    key.table().name == ANSWERS.def().name
}

impl Ticket {
    /// Adds to the call's batch that it is done. The batch is in conflict if the same call was done meanwhile.
    pub(crate) fn done(&self, batch: &mut Batch, subject: &str) {
        let Self::New(NewTicket { key, version, fingerprint, now }) = self else { return };
        let (fingerprint, at_ms, subject) = (*fingerprint, now.as_ms(), subject.to_owned());
        let answer = StoredAnswer { fingerprint, subject, at_ms, ..StoredAnswer::default() };
        batch.check(key.clone(), *version).put(key.clone(), version + 1, Bytes::from(answer.encode_to_vec()));
    }
}

impl Offers {
    /// Looks a call up by its key.
    pub(crate) async fn ticket(&self, call: &Call) -> Result<Ticket> {
        let Some(Request { caller, key: name, fingerprint }) = &call.request else { return Ok(Ticket::None) };
        let key = ANSWERS.key((shard_of(name, self.shards()), &**caller, &**name));
        let (row, now, fingerprint) = (self.store().get_one(&key).await?, self.now(), *fingerprint);
        let Some(row) = row else { return Ok(Ticket::New(NewTicket { key, version: 0, fingerprint, now })) };
        let answer = StoredAnswer::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        if now.since(Time::from_ms(answer.at_ms)) > self.config().keep_keys {
            return Ok(Ticket::New(NewTicket { key, version: row.version, fingerprint, now }));
        }
        if answer.fingerprint != fingerprint {
            return Err(Error::KeyReused { key: name.clone() });
        }
        self.until_complete(&key).await?;
        Ok(Ticket::Done(answer.subject))
    }

    /// Waits until all of the commit that this row is of can be read. Of one that is being applied some rows show before others, and whoever asks for a call that is done
    /// looks next at what it did; a snapshot has whole commits only.
    async fn until_complete(&self, key: &Key) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            if self.store().snapshot().await?.get_one(key).await?.is_some() {
                return Ok(());
            }
            tokio::time::sleep(COMPLETE_PAUSE).await;
        }
        let detail = format!("the commit that {key} is of is still being applied");
        Err(store::Error::Unavailable { detail }.into())
    }
}
