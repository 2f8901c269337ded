//! Calls about offers: made, read, changed, moved. Each takes the caller and the request and gives the answer or a [`Refusal`]; the services that are
//! generated from the contract only hand over.

mod checks;

use std::sync::{Arc, Mutex, PoisonError};

use access::{Action, Caller};
use buffa::Message;
use catalog::Catalogue;
use contract::torg::offers::v1::{
    BatchGetOffersRequest, BatchGetOffersResponse, CreateOfferRequest, CreateOfferResponse, GetOfferRequest,
    GetOfferResponse, MoveOfferRequest, MoveOfferResponse, Offer, Source, UpdateOfferRequest,
    UpdateOfferResponse, source,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use offers::masks::{UpdateMask, sellers_part};
use offers::validation::violations;
use offers::{Error, OfferId, Offers};

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{
    BATCH_ANSWER_BYTES_MAX, BATCH_GET_MAX, BATCH_READS_AT_ONCE, REASON_TEXT_CHARS_MAX, count,
    idempotency_key, reason_code, text,
};

/// Calls about offers. Cheap to clone.
#[derive(Clone)]
pub struct OfferCalls {
    offers: Offers,
    catalogue: Arc<Catalogue>,
}

impl OfferCalls {
    /// Calls about these offers, which are checked by this catalogue.
    #[must_use]
    pub fn new(offers: Offers, catalogue: Arc<Catalogue>) -> Self {
        Self { offers, catalogue }
    }

    /// Publishes an offer. What a seller does not set is ignored; only who writes in the name of sellers may say that it comes from a feed.
    pub async fn create(
        &self,
        caller: &Caller,
        request: CreateOfferRequest,
    ) -> Result<CreateOfferResponse, Refusal> {
        idempotency_key(&request.idempotency_key)?;
        let given = request.offer.into_option().ok_or_else(|| Refusal::required("offer"))?;
        let seller = caller::whose(caller, "offer.seller", &given.seller, Intent::Write)?;
        let source = if caller.may(Action::WriteForSeller) { given.source.clone() } else { None.into() };
        let source = source.into_option().filter(|source| source.kind.is_some()).unwrap_or_else(manual);
        let offer = Offer { seller: seller.to_owned(), source: source.into(), ..sellers_part(&given) };
        Refusal::of_violations("offer", &violations(&self.catalogue, &offer))?;
        let made = self.offers.create(&caller::author(caller, seller), offer).await?;
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
        let reads = ids.into_iter().zip(request.ids).map(async |(id, text)| {
            match self.reachable(caller, Intent::Read, id).await {
                Ok(offer) => Ok(Ok(offer)),
                Err(refusal) if refusal == Refusal::no_offer(id) => Ok(Err(text)),
                Err(refusal) => Err(refusal),
            }
        });
        let mut reads = stream::iter(reads).buffered(BATCH_READS_AT_ONCE);
        let (mut answer, mut bytes) = (BatchGetOffersResponse::default(), 0);
        while let Some(read) = reads.try_next().await? {
            match read {
                Ok(offer) => {
                    let offer = mask.reduce(offer);
                    bytes += offer.encoded_len() as usize;
                    answer.offers.push(offer);
                }
                Err(missing) => answer.missing.push(missing),
            }
            checks::answer_size(bytes, BATCH_ANSWER_BYTES_MAX)?;
        }
        drop(reads);
        Ok(answer)
    }

    /// Changes what a seller sets. The offer has to be sound afterwards.
    pub async fn update(
        &self,
        caller: &Caller,
        request: UpdateOfferRequest,
    ) -> Result<UpdateOfferResponse, Refusal> {
        idempotency_key(&request.idempotency_key)?;
        let wanted = request.offer.into_option().ok_or_else(|| Refusal::required("offer"))?;
        let mask = checks::update_mask(request.update_mask.as_option())?;
        let id = checks::id("offer.id", &wanted.id)?;
        let found = self.reachable(caller, Intent::Write, id).await?;
        let author = caller::author(caller, &found.seller);
        let refused = Mutex::new(None);
        let change = |offer: &mut Offer| {
            self.change(offer, &mask, &wanted).map_err(|refusal| {
                *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
                // Never seen: the refusal counts.
                Error::NotFound(id)
            })
        };
        let version = (wanted.version > 0).then_some(wanted.version);
        let changed = self.offers.update(&author, id, version, change).await;
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
        idempotency_key(&request.idempotency_key)?;
        reason_code("reason_code", &request.reason_code)?;
        text("reason_text", &request.reason_text, REASON_TEXT_CHARS_MAX)?;
        let id = checks::id("id", &request.id)?;
        let wanted = checks::wanted_move(request)?;
        let found = self.reachable(caller, Intent::Read, id).await?;
        let by = caller::mover(caller, id, &found)?;
        let moved = self.offers.move_to(&caller::author(caller, &found.seller), by, id, &wanted).await?;
        Ok(MoveOfferResponse { offer: moved.into(), ..MoveOfferResponse::default() })
    }

    /// An offer with which the caller may do this.
    async fn reachable(&self, caller: &Caller, intent: Intent, id: OfferId) -> Result<Offer, Refusal> {
        let offer = self.offers.get(id).await?;
        caller::may(caller, intent, id, &offer)?;
        Ok(offer)
    }

    fn change(&self, offer: &mut Offer, mask: &UpdateMask, wanted: &Offer) -> Result<(), Refusal> {
        mask.apply(offer, wanted).map_err(|wrong| Refusal::wrong_mask("update_mask", &wrong))?;
        Refusal::of_violations("offer", &violations(&self.catalogue, offer))
    }
}

fn manual() -> Source {
    Source { kind: Some(source::Manual::default().into()), ..Source::default() }
}
