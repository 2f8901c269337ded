//! `torg.feeds.v1.FeedService`: feeds are made, changed, fetched and deleted; what came of their files is told.
//!
//! Sellers reach what is their own. Who may read anybody's (support, moderators, services, admins) sees all feeds; who may write in the name of sellers (services, admins)
//! changes them. What a seller's category is may be said by the seller, by who writes for sellers, and by support.

mod checks;
mod files;
mod loads;
mod mappings;
mod masks;
mod service;
mod shown;

use access::{Action, Caller};
use contract::torg::feeds::v1::{self as wire, Feed, Missing};
use feeds::Feeds;
use offers::autoload::FeedName;

pub use files::{ProblemRow, Report, Upload};
pub use shown::language_of;

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{FEEDS_PAGE, page_size};
use crate::tokens::{self, About};
use shown::Seen;

/// The service. Each call takes the caller and the request and gives the answer or a [`Refusal`]. Cheap to clone.
#[derive(Clone)]
pub struct FeedCalls {
    feeds: Feeds,
    /// The page that explains the codes of problems; a code is a fragment of it.
    errors_url: String,
}

impl FeedCalls {
    /// Calls about these feeds.
    #[must_use]
    pub fn new(feeds: Feeds, errors_url: String) -> Self {
        Self { feeds, errors_url }
    }

    /// Makes a feed. What Torg sets is ignored; that it comes from another service says only who writes in the name of sellers.
    pub async fn create(
        &self,
        caller: &Caller,
        request: wire::CreateFeedRequest,
    ) -> Result<wire::CreateFeedResponse, Refusal> {
        let given = request.feed.into_option().ok_or_else(|| Refusal::required("feed"))?;
        let seller = caller::whose(caller, "feed.seller", &given.seller, Intent::Write)?.to_owned();
        let namespace = checks::namespace("feed.namespace", &given.namespace)?.to_owned();
        if given.parsed.is_set() && !caller.may(Action::WriteForSeller) {
            let text = "only a service says that a feed comes from elsewhere: leave it out";
            return Err(Refusal::wrong_field("feed.parsed", "NOT_SETTABLE", text));
        }
        checks::feed(&given)?;
        checks::new_password(&given)?;
        let made = self.feeds.create(Feed { seller, namespace, ..given }).await.map_err(within_feed)?;
        let feed = Seen::by(caller).feed(made);
        Ok(wire::CreateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// One feed with its last load.
    pub async fn get(
        &self,
        caller: &Caller,
        request: wire::GetFeedRequest,
    ) -> Result<wire::GetFeedResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let feed = Seen::by(caller).feed(self.feeds.get(&name).await?);
        Ok(wire::GetFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// The feeds of a seller, by namespace. Who may read anybody's and names no seller gets those of all.
    pub async fn list(
        &self,
        caller: &Caller,
        request: wire::ListFeedsRequest,
    ) -> Result<wire::ListFeedsResponse, Refusal> {
        let limit = page_size(request.page_size, FEEDS_PAGE)?;
        if request.seller.is_empty() && caller::own_seller(caller).is_none() && caller.may(Action::ReadAny) {
            return self.list_all(caller, &request.page_token, limit).await;
        }
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        let about = About::method("ListFeeds").and("seller", seller);
        let after: Option<String> =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut feeds = self.feeds.list(seller, after.as_deref().unwrap_or_default(), limit + 1).await?;
        let more = feeds.len() > limit;
        feeds.truncate(limit);
        let next = feeds.last().filter(|_| more).map(|last| last.namespace.clone());
        let seen = Seen::by(caller);
        Ok(wire::ListFeedsResponse {
            feeds: feeds.into_iter().map(|feed| seen.feed(feed)).collect(),
            next_page_token: tokens::encode(&about, next.as_ref()),
            ..Default::default()
        })
    }

    /// The feeds of all sellers.
    async fn list_all(
        &self,
        caller: &Caller,
        page_token: &str,
        limit: usize,
    ) -> Result<wire::ListFeedsResponse, Refusal> {
        let about = About::method("ListFeeds of all");
        let after: Option<FeedName> =
            tokens::decode(&about, page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut feeds = self.feeds.list_all(after.as_ref(), limit + 1).await?;
        let more = feeds.len() > limit;
        feeds.truncate(limit);
        let next = feeds.last().filter(|_| more);
        let next =
            next.map(|last| FeedName { seller: last.seller.clone(), namespace: last.namespace.clone() });
        let seen = Seen::by(caller);
        Ok(wire::ListFeedsResponse {
            feeds: feeds.into_iter().map(|feed| seen.feed(feed)).collect(),
            next_page_token: tokens::encode(&about, next.as_ref()),
            ..Default::default()
        })
    }

    /// Changes what the mask names.
    pub async fn update(
        &self,
        caller: &Caller,
        request: wire::UpdateFeedRequest,
    ) -> Result<wire::UpdateFeedResponse, Refusal> {
        let given = request.feed.into_option().ok_or_else(|| Refusal::required("feed"))?;
        let seller = caller::whose(caller, "feed.seller", &given.seller, Intent::Write)?.to_owned();
        let namespace = checks::namespace("feed.namespace", &given.namespace)?.to_owned();
        let mask = masks::FeedMask::parse(request.update_mask.as_option())?;
        checks::feed(&given)?;
        let version = Some(request.version).filter(|version| *version > 0);
        let change = |feed: &mut Feed| mask.apply(&given, feed);
        let name = FeedName { seller, namespace };
        let feed = self.feeds.update(&name, version, change).await.map_err(within_feed)?;
        let feed = Seen::by(caller).feed(feed);
        Ok(wire::UpdateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// Has a feed go, and its offers with it or not.
    pub async fn delete(
        &self,
        caller: &Caller,
        request: wire::DeleteFeedRequest,
    ) -> Result<wire::DeleteFeedResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Write)?;
        let offers = match request.offers.as_known() {
            Some(Missing::MISSING_UNSPECIFIED) => Missing::MISSING_REMOVE,
            Some(known @ (Missing::MISSING_REMOVE | Missing::MISSING_MAKE_MANUAL)) => known,
            Some(Missing::MISSING_KEEP) => {
                let text = "offers of a feed that is gone are removed or made manual";
                return Err(Refusal::wrong_field("offers", "NOT_ALLOWED", text));
            }
            None => return Err(Refusal::wrong_field("offers", "UNKNOWN_VALUE", "there is no such value")),
        };
        self.feeds.delete(&name, offers).await?;
        Ok(wire::DeleteFeedResponse::default())
    }

    /// Has the link fetched as soon as possible.
    pub async fn fetch_now(
        &self,
        caller: &Caller,
        request: wire::FetchNowRequest,
    ) -> Result<wire::FetchNowResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Write)?;
        match self.feeds.fetch_now(&name).await {
            Ok(()) => Ok(wire::FetchNowResponse::default()),
            Err(feeds::Error::Invalid { text, .. }) => {
                Err(Refusal::new(connectrpc::ErrorCode::FailedPrecondition, "NO_LINK", text))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The feed that a request names, if the caller may do this with the seller's feeds. Whether there is one is not looked at.
fn named(caller: &Caller, seller: &str, namespace: &str, intent: Intent) -> Result<FeedName, Refusal> {
    let seller = caller::whose(caller, "seller", seller, intent)?.to_owned();
    Ok(FeedName { seller, namespace: checks::namespace("namespace", namespace)?.to_owned() })
}

/// A refusal of something that the request has in its field `feed`.
fn within_feed(error: feeds::Error) -> Refusal {
    match error {
        feeds::Error::Invalid { field, text } => {
            feeds::Error::Invalid { field: format!("feed.{field}"), text }.into()
        }
        other => other.into(),
    }
}
