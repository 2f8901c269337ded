//! The services of a marketplace, and what they stand on.

use access::{AnonymousId, Caller, Proof};
use buffa::Message;
use connectrpc::Router;
use offers::status::Mover;
use offers::{Call, Error, OfferId, Offers, OpinionTopics, Request, StoredOffer};
use remote_stages::StageRegistry;
use std::sync::Arc;
use tokio::sync::watch;
use watcher::{Fields, Versioned};
use wire::torg::offers::v1::{Author, Offer};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::cabinet::CabinetRpc;
use crate::caller::{self, Intent};
use crate::catalogue::CatalogueRpc;
use crate::ctl::CtlCalls;
use crate::drafts::DraftsRpc;
use crate::errors::Refusal;
use crate::feeds::FeedCalls;
use crate::limits::idempotency_key;
use crate::moderation::ModerationRpc;
use crate::offers::OfferCalls;
use crate::stages::{StagesRpc, StatesRpc};
use crate::tasks::TaskCalls;

/// What the services stand on. Cheap to clone.
#[derive(Clone)]
pub struct Market {
    /// The ad store.
    pub offers: Offers,
    /// The topic that hears of every change.
    pub topic: String,
    /// Where opinions go.
    pub opinions: OpinionTopics,
    /// The stages.
    pub registry: StageRegistry,
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
        .add_service(Arc::new(CatalogueRpc(market.clone())))
        .add_service(Arc::new(StagesRpc(market.registry.clone())))
        .add_service(Arc::new(StatesRpc(market.registry.clone())))
}

/// Adds the service of feeds.
#[must_use]
pub fn register_feeds(router: Router, feeds: &FeedCalls) -> Router {
    router.add_service(Arc::new(feeds.clone()))
}

/// Adds the service of values.
#[must_use]
pub fn register_ctl(router: Router, ctl: &CtlCalls) -> Router {
    router.add_service(Arc::new(ctl.clone()))
}

/// Adds the service of reactive tasks.
#[must_use]
pub fn register_tasks(router: Router, tasks: &TaskCalls) -> Router {
    router.add_service(Arc::new(tasks.clone()))
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

    /// An offer of the active tables with which the caller may do this, and of which these fields are to change. One that is archived says so to those who may know it.
    pub(crate) async fn changeable(
        &self,
        caller: &Caller,
        intent: Intent,
        id: OfferId,
        fields: &Fields,
    ) -> Result<Versioned<StoredOffer>, Refusal> {
        match self.offers.find(id, fields).await {
            Ok(found) => {
                caller::may(caller, intent, id, &found.entity.offer)?;
                Ok(found)
            }
            Err(closed @ Error::Closed(..)) => {
                // Whether they may know that it is closed.
                self.reachable(caller, intent, id).await?;
                Err(closed.into())
            }
            Err(error) => Err(error.into()),
        }
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

/// A name of a caller that no other has: keys of one say nothing to another. The same subject of two issuers is two callers, and so is one who acts as two
/// sellers.
fn known_as(caller: &Caller) -> String {
    let (kind, by) = match &caller.proof {
        Proof::Off => ("off", ""),
        Proof::Nothing => ("nothing", caller.anonymous.as_ref().map_or("", AnonymousId::expose)),
        Proof::Token { issuer } => ("token", &**issuer),
        Proof::ApiKey { id, .. } => ("key", &**id),
    };
    let seller = caller.seller.as_deref().unwrap_or_default();
    let whole = [kind, by, &caller.subject, seller].join("\0");
    format!("{kind}:{:032x}", xxh3_128(whole.as_bytes()))
}

/// What a request asks for, in a number. The kind of the request counts: equal bytes of two kinds are two requests.
fn fingerprint<M: Message>(request: &M) -> u64 {
    let kind = std::any::type_name::<M>();
    xxh3_64_with_seed(&request.encode_to_vec(), xxh3_64_with_seed(kind.as_bytes(), 0))
}

#[cfg(test)]
mod tests {
    use access::Roles;

    use super::*;

    #[test]
    fn callers_have_names_of_their_own() {
        let caller = |subject: &str, seller: Option<&str>, proof| Caller {
            subject: subject.into(),
            seller: seller.map(str::to_owned),
            anonymous: None,
            roles: Roles::NONE,
            proof,
        };
        let token = |issuer: &str| Proof::Token { issuer: issuer.into() };
        let anonymous = |id: &str| Caller::anonymous(AnonymousId::new(id));
        let callers = [
            caller("a", None, token("x")),
            caller("b", None, token("x")),
            caller("a", None, token("y")),
            caller("a", Some("s1"), token("x")),
            caller("a", Some("s2"), token("x")),
            caller("a", None, Proof::ApiKey { id: "x".into(), name: "Anna".into() }),
            Caller::local(),
            anonymous("0123456789abcdefABCD-_"),
            anonymous("0123456789abcdefABCD-x"),
        ];
        for (n, caller) in callers.iter().enumerate() {
            assert_eq!(known_as(caller), known_as(&caller.clone()));
            assert!(callers[n + 1..].iter().all(|other| known_as(other) != known_as(caller)), "{caller:?}");
        }
    }
}
