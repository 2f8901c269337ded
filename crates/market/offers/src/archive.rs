//! The archive: offers that were removed, expired, sold or banned long ago leave the active tables, and stay readable.
//!
//! In two commits: the offer becomes `archived`, as every other move, with its lists, counts, history and message to the topic; then its row goes over to the archive, and
//! the watcher lets go of it. Between the two it waits in the same queue as those that are due, so that a crash leaves nothing behind.

use store::{Batch, Read};
use watcher::{Entity, Fields, Versioned};
use wire::torg::offers::v1::{Author, Status, author};

use crate::call::Call;
use crate::entity::StoredOffer;
use crate::error::{Error, Result};
use crate::id::OfferId;
use crate::limits::ARCHIVE_PAGE;
use crate::moves::Move;
use crate::offers::{Offers, parse};
use crate::status::{self, Mover};
use crate::tables::{ARCHIVE, LEAVING};
use crate::time;

/// Those that are archived already leave first.
const LEAVING_STATUSES: [Status; 5] =
    [Status::Archived, Status::Removed, Status::Expired, Status::Sold, Status::Banned];

impl Offers {
    /// Archives some of the offers of a shard whose time has come. Says how many; there may be more unless it is zero.
    pub async fn archive_due(&self, shard: u32) -> Result<usize> {
        let mut archived = 0;
        for status in LEAVING_STATUSES {
            let Some(after) = self.config().archive_after(status) else { continue };
            let due_ms =
                self.now().as_ms().saturating_sub(i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
            let name = status::name(status);
            let scan = LEAVING.prefix((shard, name)).through(LEAVING.bound((shard, name, due_ms)));
            for row in self.store().scan(&scan.limit(ARCHIVE_PAGE)).await?.rows {
                let (.., since_ms, id) = LEAVING.parts(&row.key)?;
                archived += usize::from(self.archive(parse(&id)?, status, since_ms).await?);
            }
        }
        Ok(archived)
    }

    /// Archives an offer, unless it has another status by now. Says whether it did.
    async fn archive(&self, id: OfferId, seen: Status, since_ms: i64) -> Result<bool> {
        if seen != Status::Archived {
            let name = "archive".to_owned();
            let author = Author { kind: author::Kind::KIND_ARCHIVE.into(), name, ..Author::default() };
            let call = Call::by(author, Mover::Archiver);
            let wanted = Move::to(Status::Archived)
                .because(status::name(seen), "its time in the active tables is over");
            let found = match self.find(id, &Fields::all()).await {
                Ok(found) if is_due(&found.entity, seen, since_ms) => found,
                Ok(_) | Err(Error::Closed(..) | Error::NotFound(_)) => return Ok(false),
                Err(error) => return Err(error),
            };
            // Only as it was seen: it may be offered again meanwhile.
            let version = Some(found.version);
            match self.move_to(&call, found, version, &wanted).await {
                Ok(_) => {}
                Err(Error::OtherVersion { .. } | Error::Closed(..) | Error::Contended(_)) => {
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        match self.watcher().load(&id).await? {
            Some(found) if found.entity.status() == Status::Archived => self.let_go(&found).await,
            _ => Ok(false),
        }
    }

    /// Moves the row of an offer to the archive. In conflict nothing happens: it stays in the queue.
    async fn let_go(&self, found: &Versioned<StoredOffer>) -> Result<bool> {
        let mut batch = Batch::new();
        let version = self.watcher().remove(&mut batch, found).await?;
        let id = found.entity.id;
        batch.put(ARCHIVE.key((self.shard(id), &*id.to_string())), version, found.entity.encode());
        Ok(self.store().commit(batch).await?.is_applied())
    }
}

/// Whether an offer has its status since then: it was not offered again and given up once more.
fn is_due(offer: &StoredOffer, seen: Status, since_ms: i64) -> bool {
    let status_ms = offer.offer.status_time.as_option().map_or(0, time::to_ms);
    offer.status() == seen && status_ms == since_ms
}
