//! The services of a marketplace, and what they stand on.

use access::Caller;
use buffa::Message;
use connectrpc::Router;
use contract::torg::offers::v1::{Author, Offer};
use offers::status::Mover;
use offers::{Call, OfferId, Offers, Opinions, Request};
use std::sync::Arc;
use tokio::sync::watch;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::cabinet::CabinetRpc;
use crate::caller::{self, Intent};
use crate::drafts::DraftsRpc;
use crate::errors::Refusal;
use crate::limits::idempotency_key;
use crate::moderation::ModerationRpc;
use crate::offers::OfferCalls;

/// What the services stand on. Cheap to clone.
#[derive(Clone)]
pub struct Market {
    /// The ad store.
    pub offers: Offers,
    /// The topic that hears of every change.
    pub topic: String,
    /// Where opinions go.
    pub opinions: Opinions,
    /// Says when the process stops: streams end then.
    pub closing: watch::Receiver<bool>,
}

/// Adds the services of a marketplace.
#[must_use]
pub fn register(router: Router, market: &Market) -> Router {
    router
        .add_service(Arc::new(OfferCalls::new(market.clone())))
        .add_service(Arc::new(DraftsRpc(market.clone())))
        .add_service(Arc::new(CabinetRpc(market.clone())))
        .add_service(Arc::new(ModerationRpc(market.clone())))
}

impl Market {
    /// An offer with which the caller may do this.
    pub(crate) async fn reachable(
        &self,
        caller: &Caller,
        intent: Intent,
        id: OfferId,
    ) -> Result<Offer, Refusal> {
        let offer = self.offers.get(id).await?;
        caller::may(caller, intent, id, &offer)?;
        Ok(offer)
    }
}

/// A call of the domain: who makes it, and which one it is.
pub(crate) fn call(
    caller: &Caller,
    (author, by): (Author, Mover),
    key: &str,
    request: &impl Message,
) -> Result<Call, Refusal> {
    let request = idempotency_key(key)?.map(|key| Request {
        caller: known_as(caller),
        key: key.to_owned(),
        fingerprint: fingerprint(request),
    });
    Ok(Call { author, by, request })
}

/// Keys of one caller say nothing to another.
fn known_as(caller: &Caller) -> String {
    match &caller.anonymous {
        Some(anonymous) if caller.is_anonymous() => format!("anonymous:{}", anonymous.expose()),
        _ => format!("known:{}", caller.subject),
    }
}

/// What a request asks for, in a number. The kind of the request counts: equal bytes of two kinds are two requests.
fn fingerprint<M: Message>(request: &M) -> u64 {
    let kind = std::any::type_name::<M>();
    xxh3_64_with_seed(&request.encode_to_vec(), xxh3_64_with_seed(kind.as_bytes(), 0))
}
