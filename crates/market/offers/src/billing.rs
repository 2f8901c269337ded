//! The data of billing about an offer, in a row of its own: its writers never conflict with those
//! of the offer.

use buffa::Message;
use store::{Batch, Read};
use wire::torg::offers::v1::Billing;

use crate::call::{Call, Ticket};
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::limits::BILLING_BYTES_MAX;
use crate::offers::Offers;
use crate::tables::BILLING;

impl Offers {
    /// Reads the data; its version is 0 if there is none.
    pub async fn billing(&self, id: OfferId) -> Result<Billing> {
        let Some(row) = self.store().get_one(&self.key(&BILLING, id)).await? else {
            return Ok(Billing::default());
        };
        let billing = Billing::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Billing { version: row.version, ..billing })
    }

    /// Replaces the version that `billing` names; 0 means that there is none yet.
    pub async fn set_billing(&self, call: &Call, id: OfferId, billing: &Billing) -> Result<Billing> {
        // The offer has to exist; its later move to the archive does not matter.
        self.get(id).await?;
        let ticket = self.ticket(call).await?;
        if matches!(ticket, Ticket::Done(_)) {
            return self.billing(id).await;
        }
        let key = self.key(&BILLING, id);
        let seen = billing.version;
        let actual = self.billing(id).await?.version;
        if actual != seen {
            return Err(Error::OtherVersion { id, expected: seen, actual });
        }
        let stored = Billing { version: 0, ..billing.clone() }.encode_to_vec();
        if stored.len() > BILLING_BYTES_MAX {
            return Err(Error::TooLarge { id, bytes: stored.len(), max: BILLING_BYTES_MAX });
        }
        let mut batch = Batch::new();
        ticket.done(&mut batch, &id.to_string());
        batch.check(key.clone(), seen).put(key, seen + 1, stored);
        if self.store().commit(batch).await?.is_applied() {
            return Ok(Billing { version: seen + 1, ..billing.clone() });
        }
        // The same call was completed concurrently, or the version is another one.
        if matches!(self.ticket(call).await?, Ticket::Done(_)) {
            return self.billing(id).await;
        }
        Err(Error::OtherVersion { id, expected: seen, actual: self.billing(id).await?.version })
    }
}
