//! The services of a marketplace.

use access::{AnonymousId, Caller, Proof};
use buffa::{Message, MessageName};
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

/// The dependencies of the services. Cheap to clone.
#[derive(Clone)]
pub struct Market {
    pub offers: Offers,
    /// The topic of changes.
    pub topic: String,
    /// The topics of opinions.
    pub opinions: OpinionTopics,
    pub registry: StageRegistry,
    /// Becomes true when the process stops: streams end then.
    pub closing: watch::Receiver<bool>,
}

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

#[must_use]
pub fn register_feeds(router: Router, feeds: &FeedCalls) -> Router {
    router.add_service(Arc::new(feeds.clone()))
}

#[must_use]
pub fn register_ctl(router: Router, ctl: &CtlCalls) -> Router {
    router.add_service(Arc::new(ctl.clone()))
}

#[must_use]
pub fn register_tasks(router: Router, tasks: &TaskCalls) -> Router {
    router.add_service(Arc::new(tasks.clone()))
}

impl Market {
    /// An offer that the caller has access to.
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

    /// An offer that the caller may change in these fields. An archived one is reported only to
    /// callers who may know it.
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
                // Checks whether the caller may know that it is archived.
                self.reachable(caller, intent, id).await?;
                Err(closed.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The author and the idempotency key of a call.
pub(crate) fn call(
    caller: &Caller,
    (author, by): (Author, Mover),
    key: &str,
    request: &(impl Message + MessageName),
) -> Result<Call, Refusal> {
    let request = idempotency_key(key)?.map(|key| Request {
        caller: known_as(caller),
        key: key.to_owned(),
        fingerprint: fingerprint(request),
    });
    Ok(Call { author, by, request })
}

/// A unique name of a caller, which separates their idempotency keys. The same subject of two
/// issuers, or acting as two sellers, is two callers.
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

/// A hash of a request, including its type. Stored with idempotency keys: the name of the type has
/// the form of the first version, whose crate was called `contract`.
fn fingerprint<M: Message + MessageName>(request: &M) -> u64 {
    let kind = format!("contract::{}", M::FULL_NAME.replace('.', "::"));
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
