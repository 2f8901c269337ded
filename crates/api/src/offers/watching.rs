//! Watching: all current offers, and then every change.

use access::Caller;
use contract::torg::offers::v1::watch_offers_response::CaughtUp;
use contract::torg::offers::v1::{WatchOffersRequest, WatchOffersResponse};
use futures::stream::{BoxStream, StreamExt as _};
use offers::{Begin, Told};

use super::OfferCalls;
use crate::caller;
use crate::errors::Refusal;
use crate::tokens::{self, About};

/// What those who watch are told; it ends with the first refusal.
pub type Watch = BoxStream<'static, Result<WatchOffersResponse, Refusal>>;

impl OfferCalls {
    /// Watches offers from the place that the request names. Whether the caller may is judged once, at the beginning.
    pub async fn watch(&self, caller: &Caller, request: WatchOffersRequest) -> Result<Watch, Refusal> {
        let seller = caller::watched(caller, &request.seller)?;
        let about = About::method("WatchOffers").and("seller", seller.unwrap_or_default());
        let place =
            tokens::decode(&about, &request.resume_token).map_err(|wrong| wrong.refusal("resume_token"))?;
        let begin = match place {
            Some(place) => Begin::At(place),
            None if request.changes_only => Begin::Changes,
            None => Begin::Current,
        };
        let told = self.offers.watch(&self.topic, seller, begin).await?;
        Ok(told
            .map(move |told| {
                let (told, place) = told?;
                Ok(answer(told, tokens::encode(&about, Some(&place))))
            })
            .boxed())
    }
}

fn answer(told: Told, resume_token: String) -> WatchOffersResponse {
    let event = match told {
        Told::Current(offer) => offer.into(),
        Told::CaughtUp => CaughtUp::default().into(),
        Told::Change(change) => change.into(),
    };
    WatchOffersResponse { event, resume_token, ..WatchOffersResponse::default() }
}
