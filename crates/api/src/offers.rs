//! Calls about offers: made, read, changed, moved, and what is kept beside them. Each takes the caller and the request and gives the answer or a
//! [`Refusal`]; the services that are generated from the contract only hand over.

mod beside;
mod checks;
mod service;
mod watching;

use std::sync::{Arc, Mutex, PoisonError};

use access::{Action, Caller};
use buffa::Message;
use contract::torg::offers::v1::{
    BatchGetOffersRequest, BatchGetOffersResponse, CreateOfferRequest, CreateOfferResponse, GetOfferRequest,
    GetOfferResponse, MoveOfferRequest, MoveOfferResponse, Offer, Source, UpdateOfferRequest,
    UpdateOfferResponse, source,
};
use offers::masks::sellers_part;
use offers::status::Mover;
use offers::{Call, Error, OfferId, Offers, Request};

pub use watching::Watch;

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::keys;
use crate::limits::{BATCH_ANSWER_BYTES_MAX, BATCH_CHUNK, BATCH_GET_MAX, count};

/// Calls about offers, and the service of the contract that hands over to them. Cheap to clone.
#[derive(Clone)]
pub struct OfferCalls {
    offers: Offers,
    topic: Arc<str>,
}

impl OfferCalls {
    /// Calls about these offers, whose changes go to this topic.
    #[must_use]
    pub fn new(offers: Offers, topic: &str) -> Self {
        Self { offers, topic: topic.into() }
    }

    /// Publishes an offer. What a seller does not set is ignored; only who writes in the name of sellers may say that it comes from a feed.
    pub async fn create(
        &self,
        caller: &Caller,
        request: CreateOfferRequest,
    ) -> Result<CreateOfferResponse, Refusal> {
        let known_as = keys::request(caller, &request.idempotency_key, "CreateOffer", &request)?;
        let given = request.offer.into_option().ok_or_else(|| Refusal::required("offer"))?;
        let seller = caller::whose(caller, "offer.seller", &given.seller, Intent::Write)?;
        let source = if caller.may(Action::WriteForSeller) { given.source.clone() } else { None.into() };
        let source = source.into_option().filter(|source| source.kind.is_some()).unwrap_or_else(manual);
        let offer = Offer { seller: seller.to_owned(), source: source.into(), ..sellers_part(&given) };
        let call = call(caller, seller, caller::writer(caller, seller), known_as);
        let made = self.offers.create(&call, &offer).await?;
        Ok(CreateOfferResponse { offer: made.into(), ..CreateOfferResponse::default() })
    }

    /// One offer.
    pub async fn get(&self, caller: &Caller, request: GetOfferRequest) -> Result<GetOfferResponse, Refusal> {
        let mask = checks::read_mask(request.read_mask.as_option())?;
        let offer = self.reachable(caller, Intent::Read, checks::id("id", &request.id)?).await?;
        Ok(GetOfferResponse { offer: mask.reduce(offer).into(), ..GetOfferResponse::default() })
    }

    /// Several offers, in the order of their ids.
    pub async fn batch_get(
        &self,
        caller: &Caller,
        request: BatchGetOffersRequest,
    ) -> Result<BatchGetOffersResponse, Refusal> {
        count("ids", request.ids.len(), BATCH_GET_MAX)?;
        let mask = checks::read_mask(request.read_mask.as_option())?;
        let ids = checks::ids("ids", &request.ids)?;
        let (mut answer, mut bytes) = (BatchGetOffersResponse::default(), 0);
        for (ids, texts) in ids.chunks(BATCH_CHUNK).zip(request.ids.chunks(BATCH_CHUNK)) {
            let found = self.offers.get_many(ids).await?;
            for ((id, text), offer) in ids.iter().zip(texts).zip(found) {
                let readable = offer.filter(|offer| caller::may(caller, Intent::Read, *id, offer).is_ok());
                let Some(offer) = readable else {
                    answer.missing.push(text.clone());
                    continue;
                };
                let offer = mask.reduce(offer);
                bytes += offer.encoded_len() as usize;
                answer.offers.push(offer);
            }
            checks::answer_size(bytes, BATCH_ANSWER_BYTES_MAX)?;
        }
        Ok(answer)
    }

    /// Changes what a seller sets. The offer has to be sound afterwards.
    pub async fn update(
        &self,
        caller: &Caller,
        request: UpdateOfferRequest,
    ) -> Result<UpdateOfferResponse, Refusal> {
        let known_as = keys::request(caller, &request.idempotency_key, "UpdateOffer", &request)?;
        let wanted = request.offer.into_option().ok_or_else(|| Refusal::required("offer"))?;
        let mask = checks::update_mask(request.update_mask.as_option())?;
        let id = checks::id("offer.id", &wanted.id)?;
        let found = self.reachable(caller, Intent::Write, id).await?;
        let call = call(caller, &found.seller, caller::writer(caller, &found.seller), known_as);
        let refused = Mutex::new(None);
        let change = |offer: &mut Offer| {
            mask.apply(offer, &wanted).map_err(|wrong| {
                let refusal = Refusal::wrong_mask("update_mask", &wrong);
                *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
                // Ends the attempt, and is never seen: the refusal counts.
                Error::Contended(id)
            })
        };
        let changed = self.offers.update(&call, id, seen(wanted.version), change).await;
        if let Some(refusal) = refused.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(refusal);
        }
        Ok(UpdateOfferResponse { offer: changed?.into(), ..UpdateOfferResponse::default() })
    }

    /// Moves an offer to another status.
    pub async fn move_to(
        &self,
        caller: &Caller,
        request: MoveOfferRequest,
    ) -> Result<MoveOfferResponse, Refusal> {
        let known_as = keys::request(caller, &request.idempotency_key, "MoveOffer", &request)?;
        let (id, version) = (checks::id("id", &request.id)?, seen(request.version));
        let wanted = checks::wanted_move(request)?;
        let found = self.reachable(caller, Intent::Read, id).await?;
        let call = call(caller, &found.seller, caller::mover(caller, id, &found)?, known_as);
        let moved = self.offers.move_to(&call, id, version, &wanted).await?;
        Ok(MoveOfferResponse { offer: moved.into(), ..MoveOfferResponse::default() })
    }

    /// An offer with which the caller may do this.
    async fn reachable(&self, caller: &Caller, intent: Intent, id: OfferId) -> Result<Offer, Refusal> {
        let offer = self.offers.get(id).await?;
        caller::may(caller, intent, id, &offer)?;
        Ok(offer)
    }
}

fn call(caller: &Caller, seller: &str, by: Mover, request: Option<Request>) -> Call {
    Call { author: caller::author(caller, seller), by, request }
}

/// The version that a caller saw, if that matters.
fn seen(version: u64) -> Option<u64> {
    (version > 0).then_some(version)
}

fn manual() -> Source {
    Source { kind: Some(source::Manual::default().into()), ..Source::default() }
}
