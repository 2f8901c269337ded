//! `torg.offers.v1.OfferService`: creating, reading, changing, moving and watching offers.

mod billing;
pub(crate) mod checks;
mod explain;
mod watch;

use access::{Action, Caller};
use buffa::Message;
use offers::Error;
use offers::fields::BY_SELLERS;
use offers::masks::sellers_part;
use offers::status::Mover;
use watcher::Fields;
use wire::torg::offers::v1::{
    self as proto, BatchGetOffersRequest, BatchGetOffersResponse, CreateOfferRequest, CreateOfferResponse,
    GetHistoryRequest, GetHistoryResponse, GetOfferRequest, GetOfferResponse, MoveOfferRequest,
    MoveOfferResponse, Offer, UpdateOfferRequest, UpdateOfferResponse,
};

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{
    BATCH_ANSWER_BYTES_MAX, BATCH_GET_MAX, BATCH_GET_STEP, HISTORY_PAGE, REASON_TEXT_CHARS_MAX, count,
    page_size, reason_code, text,
};
use crate::market::{Market, call};
use crate::names::Names;
use crate::service::service;
use crate::tokens::{self, About};

/// The service: each call takes the caller and the request.
pub struct OfferCalls(Market);

service! { OfferService for OfferCalls {
    create_offer(CreateOfferRequest) -> CreateOfferResponse = create;
    get_offer(GetOfferRequest) -> GetOfferResponse = get;
    batch_get_offers(BatchGetOffersRequest) -> BatchGetOffersResponse = batch_get;
    update_offer(UpdateOfferRequest) -> UpdateOfferResponse = update;
    move_offer(MoveOfferRequest) -> MoveOfferResponse = move_to;
    get_history(GetHistoryRequest) -> GetHistoryResponse = history;
    explain_offer(ExplainOfferRequest) -> ExplainOfferResponse = explain;
    stream watch_offers(WatchOffersRequest) -> WatchOffersResponse = watch;
    get_billing(GetBillingRequest) -> GetBillingResponse = billing;
    set_billing(SetBillingRequest) -> SetBillingResponse = set_billing;
}}

impl OfferCalls {
    #[must_use]
    pub fn new(market: Market) -> Self {
        Self(market)
    }

    /// Publishes an offer. Fields that sellers do not set are ignored; only callers who write for
    /// sellers may set its feed.
    pub async fn create(
        &self,
        caller: &Caller,
        request: CreateOfferRequest,
    ) -> Result<CreateOfferResponse, Refusal> {
        let given = request.offer.as_option().ok_or_else(|| Refusal::required("offer"))?;
        let seller = caller::whose(caller, "offer.seller", &given.seller, Intent::Write)?;
        let source = if caller.may(Action::WriteForSeller) { given.source.clone() } else { None.into() };
        let source = source.into_option().filter(|source| source.kind.is_some());
        let offer = Offer { seller: seller.to_owned(), source: source.into(), ..sellers_part(given) };
        let who = (caller::author(caller, seller), Mover::Seller);
        let call = call(caller, who, &request.idempotency_key, &request)?;
        let made = self.0.offers.create(&call, &offer).await?;
        Ok(CreateOfferResponse { offer: Names::seen_by(caller).offer(made).into(), ..Default::default() })
    }

    pub async fn get(&self, caller: &Caller, request: GetOfferRequest) -> Result<GetOfferResponse, Refusal> {
        let mask = checks::read_mask(request.read_mask.as_option())?;
        let offer = self.0.reachable(caller, Intent::Read, checks::id("id", &request.id)?).await?;
        Ok(GetOfferResponse {
            offer: Names::seen_by(caller).offer(mask.reduce(offer)).into(),
            ..Default::default()
        })
    }

    /// Several offers in the order of their ids.
    pub async fn batch_get(
        &self,
        caller: &Caller,
        request: BatchGetOffersRequest,
    ) -> Result<BatchGetOffersResponse, Refusal> {
        count("ids", request.ids.len(), BATCH_GET_MAX)?;
        let mask = checks::read_mask(request.read_mask.as_option())?;
        let ids = checks::ids("ids", &request.ids)?;
        let (names, mut answer, mut bytes) = (Names::seen_by(caller), BatchGetOffersResponse::default(), 0);
        // In small steps: all might be large, and none visible to this caller.
        for (ids, named) in ids.chunks(BATCH_GET_STEP).zip(request.ids.chunks(BATCH_GET_STEP)) {
            let found = self.0.offers.get_many(ids).await?;
            for ((id, named), offer) in ids.iter().zip(named).zip(found) {
                match offer.filter(|offer| caller::may(caller, Intent::Read, *id, offer).is_ok()) {
                    Some(offer) => {
                        let offer = names.offer(mask.reduce(offer));
                        bytes += offer.encoded_len() as usize;
                        checks::answer_size(bytes, BATCH_ANSWER_BYTES_MAX)?;
                        answer.offers.push(offer);
                    }
                    None => answer.missing.push(named.clone()),
                }
            }
        }
        Ok(answer)
    }

    /// Changes fields that sellers set; the result must be valid.
    pub async fn update(
        &self,
        caller: &Caller,
        request: UpdateOfferRequest,
    ) -> Result<UpdateOfferResponse, Refusal> {
        let wanted = request.offer.as_option().ok_or_else(|| Refusal::required("offer"))?;
        let mask = checks::update_mask(request.update_mask.as_option())?;
        let id = checks::id("offer.id", &wanted.id)?;
        let found = self.0.changeable(caller, Intent::Write, id, &BY_SELLERS).await?;
        let who = (caller::author(caller, &found.entity.offer.seller), Mover::Seller);
        let call = call(caller, who, &request.idempotency_key, &request)?;
        let change = |offer: &mut Offer| mask.apply(offer, wanted).map_err(Error::from);
        let version = (wanted.version > 0).then_some(wanted.version);
        let changed = Box::pin(self.0.offers.update(&call, found, version, change)).await?;
        Ok(UpdateOfferResponse { offer: Names::seen_by(caller).offer(changed).into(), ..Default::default() })
    }

    /// Moves an offer to another status.
    pub async fn move_to(
        &self,
        caller: &Caller,
        request: MoveOfferRequest,
    ) -> Result<MoveOfferResponse, Refusal> {
        reason_code("reason_code", &request.reason_code)?;
        text("reason_text", &request.reason_text, REASON_TEXT_CHARS_MAX)?;
        let id = checks::id("id", &request.id)?;
        let wanted = checks::wanted_move(&request)?;
        let found = self.0.changeable(caller, Intent::Read, id, &Fields::all()).await?;
        let offer = &found.entity.offer;
        let who = (caller::author(caller, &offer.seller), caller::mover(caller, id, offer)?);
        let call = call(caller, who, &request.idempotency_key, &request)?;
        let version = (request.version > 0).then_some(request.version);
        let moved = Box::pin(self.0.offers.move_to(&call, found, version, &wanted)).await?;
        Ok(MoveOfferResponse { offer: Names::seen_by(caller).offer(moved).into(), ..Default::default() })
    }

    /// The changes of an offer. Sellers see the role of an author, not the name.
    pub async fn history(
        &self,
        caller: &Caller,
        request: GetHistoryRequest,
    ) -> Result<GetHistoryResponse, Refusal> {
        let id = checks::id("id", &request.id)?;
        let limit = page_size(request.page_size, HISTORY_PAGE)?;
        let about = About::method("GetHistory").and("id", id.to_string());
        let before = tokens::page(&about, &request.page_token)?;
        let offer = self.0.offers.get(id).await?;
        caller::may_see_history(caller, id, &offer)?;
        let (entries, next) = self.0.offers.history(id, before, limit).await?;
        let next_page_token = tokens::encode(&about, next.as_ref());
        let names = Names::seen_by(caller);
        let entries = entries.into_iter().map(|entry| names.entry(entry)).collect();
        Ok(GetHistoryResponse { entries, next_page_token, ..Default::default() })
    }
}
