//! Drafts: clients of one seller share one, visitors have one of their own.

use futures::future::join;
use offers::drafts::Owner;
use offers::{Error, OfferId, Result};
use wire::torg::offers::v1::{Draft, Offer};

use crate::model::client::{Client, fixed, title};
use crate::model::journal::{Answer, Asked, Called, DraftChange};

impl Client {
    /// Opens a draft, fills it, and publishes it twice at once.
    pub(crate) async fn draft(&mut self) {
        let logged_in = Owner { seller: Some(self.seller.to_owned()), anonymous: None };
        let visitor = Some(format!("visitor {} ........", self.name));
        let both = Owner { anonymous: visitor.clone(), ..logged_in.clone() };
        let (opener, publisher) = match self.dice.within(0..10) {
            0..5 => (logged_in.clone(), logged_in),
            5..8 => (Owner { seller: None, anonymous: visitor }, both),
            _ => (both.clone(), both),
        };
        let category = [None, None, Some("bikes"), Some("toys")];
        let category = *self.dice.one_of(&category).unwrap();
        let Ok(draft) = self.offers.open_draft(&opener, category).await else { return };
        let id = draft.id.parse().unwrap();
        self.journal.event(format_args!("{} opens draft {id} v{}", self.name, draft.version));
        for _ in 0..self.dice.within(1..3) {
            self.fill(&opener, id, &draft).await;
        }
        if self.dice.percent(5) {
            let deleted = self.offers.delete_draft(&opener, id).await;
            self.journal.event(format_args!("{} deletes draft {id}: {deleted:?}", self.name));
        }
        join(self.publish(&publisher, id), self.publish(&publisher, id)).await;
        if self.dice.percent(30) {
            self.publish(&publisher, id).await;
        }
    }

    async fn fill(&mut self, owner: &Owner, draft: OfferId, seen: &Draft) {
        let (token, keyed) = (self.journal.token(), self.dice.percent(40));
        let price = fixed(token, "EUR");
        let change = |offer: &mut Offer| {
            offer.title = title(token);
            offer.price = Some(price.clone()).into();
            "bikes".clone_into(&mut offer.category);
            Ok(())
        };
        let (call, expected) = (self.caller(token, keyed), self.dice.percent(20).then_some(seen.version));
        self.journal.event(format_args!("{} fills draft {draft} with {token}", self.name));
        let asked = self.journal.notes().events;
        let ask = || self.offers.update_draft(&call, owner, draft, expected, change);
        let (first, again) =
            if keyed { join(ask(), ask()).await } else { (ask().await, Err(Error::NoSeller)) };
        let version =
            |filled: &Result<Draft>| filled.as_ref().map(|filled| filled.version).map_err(Error::to_string);
        self.journal.event(format_args!("{token}: {:?} {:?}", version(&first), version(&again)));
        if first.is_ok() || again.is_ok() {
            let refused = [first.err(), again.err()].into_iter().flatten();
            let refused = refused.filter(|error| matches!(error, Error::OtherVersion { .. }));
            self.journal.notes().drafts_refused.extend(refused.map(|error| (token, error)));
            let (seller, price, mut notes) = (self.seller, price.clone(), self.journal.notes());
            let done = notes.events;
            notes.draft_changes.push(DraftChange { draft, token, seller, price, asked, done });
        }
    }

    async fn publish(&self, owner: &Owner, draft: OfferId) {
        let published = self.offers.publish_draft(&self.caller(0, false), owner, draft).await;
        let answer = match published {
            Ok(offer) => {
                self.know(&offer);
                Answer::Done(Box::new(offer))
            }
            Err(error) => Answer::Refused(error),
        };
        self.journal.called(Called {
            token: 0,
            seller: self.seller,
            target: None,
            asked: Asked::Publish { draft },
            keyed: false,
            expected: None,
            between: (0, u64::MAX),
            answer,
        });
    }
}
