//! `torg.offers.v1.CabinetService`: what sellers see of their own offers.

use access::{Action, Caller};
use connectrpc::{RequestContext, Response, ServiceResult};
use offers::cabinet::{Filter, PriceFilter};
use offers::presets;
use wire::torg::offers::v1::list_offers_request::Filter as WireFilter;
use wire::torg::offers::v1::{self as proto, Money, Preset, get_counts_response, repair_counts_response};

use crate::caller::{self, Intent, of_request};
use crate::errors::Refusal;
use crate::limits::{
    CATEGORY_BYTES_MAX, EXTERNAL_ID_BYTES_MAX, NAME_BYTES_MAX, OFFERS_PAGE, TITLE_PREFIX_CHARS_MAX, name,
    page_size, text,
};
use crate::market::Market;
use crate::names::Names;
use crate::offers::checks;
use crate::tokens::{self, About};
use buffa::Message as _;

/// The service.
pub(crate) struct CabinetRpc(pub(crate) Market);

impl proto::CabinetService for CabinetRpc {
    async fn list_offers(
        &self,
        context: RequestContext,
        request: proto::ListOffersRequest,
    ) -> ServiceResult<proto::ListOffersResponse> {
        Response::ok(self.list(of_request(&context)?, request).await?)
    }

    async fn get_counts(
        &self,
        context: RequestContext,
        request: proto::GetCountsRequest,
    ) -> ServiceResult<proto::GetCountsResponse> {
        Response::ok(self.counts(of_request(&context)?, request).await?)
    }

    async fn get_counters(
        &self,
        context: RequestContext,
        request: proto::GetCountersRequest,
    ) -> ServiceResult<proto::GetCountersResponse> {
        Response::ok(self.counters(of_request(&context)?, request).await?)
    }

    async fn repair_counts(
        &self,
        context: RequestContext,
        request: proto::RepairCountsRequest,
    ) -> ServiceResult<proto::RepairCountsResponse> {
        Response::ok(self.repair(of_request(&context)?, request).await?)
    }
}

impl CabinetRpc {
    async fn list(
        &self,
        caller: &Caller,
        request: proto::ListOffersRequest,
    ) -> Result<proto::ListOffersResponse, Refusal> {
        let limit = page_size(request.page_size, OFFERS_PAGE)?;
        let mask = checks::read_mask(request.read_mask.as_option())?;
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        let preset = match request.preset.as_known() {
            Some(Preset::PRESET_UNSPECIFIED) => Preset::All,
            Some(preset) => preset,
            None => return Err(Refusal::wrong_field("preset", "UNKNOWN_VALUE", "there is no such preset")),
        };
        let wanted = request.filter.as_option().cloned().unwrap_or_default();
        let about = About::method("ListOffers").and("seller", seller).and("preset", presets::name(preset));
        let about = about.and("filter", wanted.encode_to_vec());
        let filter = filter(&wanted)?;
        let after =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let page = self.0.offers.list(seller, preset, &filter, after, limit).await?;
        let next_page_token = tokens::encode(&about, page.next.as_ref());
        let names = Names::seen_by(caller);
        let offers = page.offers.into_iter().map(|offer| names.offer(mask.reduce(offer))).collect();
        Ok(proto::ListOffersResponse { offers, next_page_token, ..Default::default() })
    }

    async fn counts(
        &self,
        caller: &Caller,
        request: proto::GetCountsRequest,
    ) -> Result<proto::GetCountsResponse, Refusal> {
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        let counts = self.0.offers.counts(seller).await?;
        let count = |preset: Preset| get_counts_response::Count {
            preset: preset.into(),
            offers: counts.get(presets::name(preset)).copied().unwrap_or(0),
            ..Default::default()
        };
        Ok(proto::GetCountsResponse { counts: presets::ALL.map(count).into(), ..Default::default() })
    }

    async fn counters(
        &self,
        caller: &Caller,
        request: proto::GetCountersRequest,
    ) -> Result<proto::GetCountersResponse, Refusal> {
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        let counters = self.0.offers.counters(seller).await?;
        let now = |preset| counters.now.get(presets::name(preset)).copied().unwrap_or(0);
        let money = |(currency, micros)| Money { micros, currency, ..Money::default() };
        Ok(proto::GetCountersResponse {
            active: now(Preset::Active),
            expired: now(Preset::Expired),
            banned: now(Preset::Banned),
            sold: counters.sold,
            money_earned: counters.money.into_iter().map(money).collect(),
            ..Default::default()
        })
    }

    /// For support and those above: a seller has no use for it, and it takes a while.
    async fn repair(
        &self,
        caller: &Caller,
        request: proto::RepairCountsRequest,
    ) -> Result<proto::RepairCountsResponse, Refusal> {
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        Refusal::of_verdict(caller.judge(Action::SeeInternals), Refusal::forbidden)?;
        let drifts = self.0.offers.repair_counts(seller).await?;
        let drift = |drift: offers::Drift| repair_counts_response::Drift {
            name: drift.counter.to_owned(),
            correction: drift.correction,
            ..Default::default()
        };
        Ok(proto::RepairCountsResponse {
            drifts: drifts.into_iter().map(drift).collect(),
            ..Default::default()
        })
    }
}

fn filter(wanted: &WireFilter) -> Result<Filter, Refusal> {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    if !wanted.category.is_empty() {
        name("filter.category", &wanted.category, CATEGORY_BYTES_MAX)?;
    }
    let source = match &*wanted.source {
        "" | "manual" => given(&wanted.source),
        namespace => {
            name("filter.source", namespace, NAME_BYTES_MAX)?;
            Some(format!("feed:{namespace}"))
        }
    };
    text("filter.title_prefix", &wanted.title_prefix, TITLE_PREFIX_CHARS_MAX)?;
    let price = price(wanted.price_from.as_option(), wanted.price_to.as_option())?;
    let external_id = external_id(wanted)?;
    let (category, title_prefix) = (given(&wanted.category), given(&wanted.title_prefix));
    Ok(Filter { category, source, title_prefix, price, external_id })
}

/// The id in a feed, which has to be named.
fn external_id(wanted: &WireFilter) -> Result<Option<String>, Refusal> {
    if wanted.external_id.is_empty() {
        return Ok(None);
    }
    name("filter.external_id", &wanted.external_id, EXTERNAL_ID_BYTES_MAX)?;
    if matches!(&*wanted.source, "" | "manual") {
        let text = "an external id is one of a feed: name the feed as the source";
        return Err(Refusal::wrong_field("filter.source", "FEED_REQUIRED", text));
    }
    Ok(Some(wanted.external_id.clone()))
}

fn price(from: Option<&Money>, to: Option<&Money>) -> Result<Option<PriceFilter>, Refusal> {
    for (field, money) in [("filter.price_from", from), ("filter.price_to", to)] {
        money.map_or(Ok(()), |money| checks::money(field, money))?;
    }
    let currency = match (from, to) {
        (None, None) => return Ok(None),
        (Some(from), Some(to)) if from.currency != to.currency => {
            let text = "both ends of a price have the same currency";
            return Err(Refusal::wrong_field("filter.price_to.currency", "TWO_CURRENCIES", text));
        }
        (Some(money), _) | (None, Some(money)) => money.currency.clone(),
    };
    let (from, to) = (from.map_or(0, |money| money.micros), to.map_or(i64::MAX, |money| money.micros));
    Ok(Some(PriceFilter { currency, from, to }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_id_is_looked_for_in_a_feed_that_is_named() {
        let wanted = |source: &str, external_id: &str| WireFilter {
            source: source.into(),
            external_id: external_id.into(),
            ..WireFilter::default()
        };
        let found = filter(&wanted("shop", "A-1"));
        let named =
            Filter { source: Some("feed:shop".into()), external_id: Some("A-1".into()), ..Filter::default() };
        assert_eq!(found, Ok(named));
        for source in ["", "manual"] {
            assert_eq!(
                filter(&wanted(source, "A-1")).map_err(|refusal| refusal.reason()),
                Err("FEED_REQUIRED")
            );
        }
        let long = "x".repeat(EXTERNAL_ID_BYTES_MAX + 1);
        assert_eq!(filter(&wanted("shop", &long)).map_err(|refusal| refusal.reason()), Err("LIMIT_EXCEEDED"));
    }
}
