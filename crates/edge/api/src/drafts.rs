//! `torg.offers.v1.DraftService`: incomplete offers.

use access::{AnonymousId, Caller};
use connectrpc::{RequestContext, Response, ServiceResult};
use offers::Error;
use offers::drafts::Owner;
use offers::status::Mover;
use wire::torg::offers::v1::{self as proto, Author, DraftOwner, Offer};

use crate::caller::{self, Intent, of_request, own_seller};
use crate::errors::Refusal;
use crate::limits::{CATEGORY_BYTES_MAX, name};
use crate::market::{Market, call};
use crate::names::Names;
use crate::offers::checks;

/// The service.
pub(crate) struct DraftsRpc(pub(crate) Market);

impl proto::DraftService for DraftsRpc {
    async fn open_draft(
        &self,
        context: RequestContext,
        request: proto::OpenDraftRequest,
    ) -> ServiceResult<proto::OpenDraftResponse> {
        Response::ok(Box::pin(self.open(of_request(&context)?, request)).await?)
    }

    async fn update_draft(
        &self,
        context: RequestContext,
        request: proto::UpdateDraftRequest,
    ) -> ServiceResult<proto::UpdateDraftResponse> {
        Response::ok(self.update(of_request(&context)?, request).await?)
    }

    async fn publish_draft(
        &self,
        context: RequestContext,
        request: proto::PublishDraftRequest,
    ) -> ServiceResult<proto::PublishDraftResponse> {
        Response::ok(self.publish(of_request(&context)?, request).await?)
    }

    async fn delete_draft(
        &self,
        context: RequestContext,
        request: proto::DeleteDraftRequest,
    ) -> ServiceResult<proto::DeleteDraftResponse> {
        Response::ok(self.delete(of_request(&context)?, request).await?)
    }
}

impl DraftsRpc {
    async fn open(
        &self,
        caller: &Caller,
        request: proto::OpenDraftRequest,
    ) -> Result<proto::OpenDraftResponse, Refusal> {
        let owner = owner(caller, request.owner.as_option())?;
        call(&as_owner(caller, &owner), who(caller, &owner), &request.idempotency_key, &request)?;
        let category = (!request.category.is_empty()).then_some(&*request.category);
        if let Some(category) = category {
            name("category", category, CATEGORY_BYTES_MAX)?;
            if self.0.offers.catalogue().category(category).is_none() {
                let text = "there is no such category in the catalogue";
                return Err(Refusal::wrong_field("category", "UNKNOWN_CATEGORY", text));
            }
        }
        let draft = Box::pin(self.0.offers.open_draft(&owner, category)).await?;
        Ok(proto::OpenDraftResponse { draft: draft.into(), ..Default::default() })
    }

    async fn update(
        &self,
        caller: &Caller,
        request: proto::UpdateDraftRequest,
    ) -> Result<proto::UpdateDraftResponse, Refusal> {
        let owner = owner(caller, request.owner.as_option())?;
        let draft = request.draft.as_option().ok_or_else(|| Refusal::required("draft"))?;
        let wanted = draft.offer.as_option().ok_or_else(|| Refusal::required("draft.offer"))?;
        let mask = checks::update_mask(request.update_mask.as_option())?;
        let id = checks::id("draft.id", &draft.id)?;
        let call = call(&as_owner(caller, &owner), who(caller, &owner), &request.idempotency_key, &request)?;
        let change = |offer: &mut Offer| mask.apply(offer, wanted).map_err(Error::from);
        let version = (draft.version > 0).then_some(draft.version);
        let draft = self.0.offers.update_draft(&call, &owner, id, version, change).await?;
        Ok(proto::UpdateDraftResponse { draft: draft.into(), ..Default::default() })
    }

    async fn publish(
        &self,
        caller: &Caller,
        request: proto::PublishDraftRequest,
    ) -> Result<proto::PublishDraftResponse, Refusal> {
        let owner = owner(caller, request.owner.as_option())?;
        let id = checks::id("id", &request.id)?;
        let call = call(&as_owner(caller, &owner), who(caller, &owner), &request.idempotency_key, &request)?;
        let offer = self.0.offers.publish_draft(&call, &owner, id).await?;
        Ok(proto::PublishDraftResponse {
            offer: Names::seen_by(caller).offer(offer).into(),
            ..Default::default()
        })
    }

    async fn delete(
        &self,
        caller: &Caller,
        request: proto::DeleteDraftRequest,
    ) -> Result<proto::DeleteDraftResponse, Refusal> {
        let owner = owner(caller, request.owner.as_option())?;
        let id = checks::id("id", &request.id)?;
        call(&as_owner(caller, &owner), who(caller, &owner), &request.idempotency_key, &request)?;
        self.0.offers.delete_draft(&owner, id).await?;
        Ok(proto::DeleteDraftResponse::default())
    }
}

/// Whose draft: the caller's own, or whom a service names. Whoever knows an anonymous id is that visitor.
fn owner(caller: &Caller, named: Option<&DraftOwner>) -> Result<Owner, Refusal> {
    let (seller, anonymous) = named.map_or(("", ""), |owner| (&*owner.seller, &*owner.anonymous));
    let anonymous = match anonymous {
        "" => caller.anonymous.clone(),
        text => Some(AnonymousId::new(text).ok_or_else(wrong_anonymous)?),
    };
    let seller = match seller {
        "" if own_seller(caller).is_none() => None,
        named => Some(caller::whose(caller, "owner.seller", named, Intent::Write)?.to_owned()),
    };
    if seller.is_none() && anonymous.is_none() {
        return Err(if caller.is_anonymous() { Refusal::sign_in() } else { Refusal::required("owner") });
    }
    Ok(Owner { seller, anonymous: anonymous.map(|id| id.expose().to_owned()) })
}

fn wrong_anonymous() -> Refusal {
    let text =
        "from 22 to 64 letters, digits, `-` and `_`, chosen at random: only who knows them owns the draft";
    Refusal::wrong_field("owner.anonymous", "BAD_FORM", text)
}

/// The caller as the visitor whose draft it is, so that keys of one visitor say nothing to another, wherever they say who they are.
fn as_owner(caller: &Caller, owner: &Owner) -> Caller {
    Caller { anonymous: owner.anonymous.as_deref().and_then(AnonymousId::new), ..caller.clone() }
}

/// As whom the caller writes. A visitor who is not known signs as nobody.
fn who(caller: &Caller, owner: &Owner) -> (Author, Mover) {
    let author = owner.seller.as_deref().map(|seller| caller::author(caller, seller));
    (author.unwrap_or_default(), Mover::Seller)
}
