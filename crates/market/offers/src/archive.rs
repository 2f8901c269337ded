//! The archive of offers that were removed, expired, sold or banned long ago. Archived offers can
//! be read.
//!
//! An offer is archived in two commits: a move to the status `archived`, with all that follows a
//! move; then the move of its row to the archive and its removal from the watcher. Between the two
//! it is in the queue of due offers, so that a crash leaves no work undone.

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

/// Offers that are archived already come first.
const LEAVING_STATUSES: [Status; 5] =
    [Status::Archived, Status::Removed, Status::Expired, Status::Sold, Status::Banned];

impl Offers {
    /// Archives some of the due offers of a shard. Returns their number; 0 if none are left.
    pub async fn archive_due(&self, shard: u32) -> Result<usize> {
        let mut archived = 0;
        for status in LEAVING_STATUSES {
            let Some(after) = self.config().archive_after(status) else { continue };
            let after_ms = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
            let due_ms = self.now().as_ms().saturating_sub(after_ms);
            let name = status::name(status);
            let scan = LEAVING.prefix((shard, name)).through(LEAVING.bound((shard, name, due_ms)));
            for row in self.store().scan(&scan.limit(ARCHIVE_PAGE)).await?.rows {
                let (.., since_ms, id) = LEAVING.parts(&row.key)?;
                archived += usize::from(self.archive(parse(&id)?, status, since_ms).await?);
            }
        }
        Ok(archived)
    }

    /// Archives an offer unless its status has changed. Returns whether it did.
    async fn archive(&self, id: OfferId, seen: Status, since_ms: i64) -> Result<bool> {
        if seen != Status::Archived {
            let kind = author::Kind::KIND_ARCHIVE.into();
            let author = Author { kind, name: "archive".to_owned(), ..Author::default() };
            let call = Call::by(author, Mover::Archiver);
            let wanted = Move::to(Status::Archived)
                .because(status::name(seen), "its time in the active tables is over");
            let found = match self.find(id, &Fields::all()).await {
                Ok(found) if is_due(&found.entity, seen, since_ms) => found,
                Ok(_) | Err(Error::Closed(..) | Error::NotFound(_)) => return Ok(false),
                Err(error) => return Err(error),
            };
            // Only this version: the seller may offer it again meanwhile.
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
            Some(found) if found.entity.status() == Status::Archived => self.move_row(&found).await,
            _ => Ok(false),
        }
    }

    /// Moves the row of an offer to the archive. After a conflict it stays in the queue.
    async fn move_row(&self, found: &Versioned<StoredOffer>) -> Result<bool> {
        let mut batch = Batch::new();
        let version = self.watcher().remove(&mut batch, found).await?;
        batch.put(self.key(&ARCHIVE, found.entity.id), version, found.entity.encode());
        Ok(self.store().commit(batch).await?.is_applied())
    }
}

/// Whether an offer has had this status since then, without a change in between.
fn is_due(offer: &StoredOffer, seen: Status, since_ms: i64) -> bool {
    offer.status() == seen && offer.status_ms() == since_ms
}
