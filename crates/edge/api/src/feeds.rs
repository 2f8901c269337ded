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

use std::collections::BTreeSet;

use access::{Action, Caller};
use buffa::{EnumValue, Enumeration as _};
use feeds::Feeds;
use feeds::limits::FEEDS_OF_A_SELLER_MAX;
use feeds::FeedName;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{self as proto, Feed, Missing};

pub use files::{ProblemRow, Report, Upload};
pub use shown::language_of;

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{FEED_SURVEYS_MAX, FEEDS_PAGE, page_size};
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
        request: proto::CreateFeedRequest,
    ) -> Result<proto::CreateFeedResponse, Refusal> {
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
        Ok(proto::CreateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// One feed with its last load.
    pub async fn get(
        &self,
        caller: &Caller,
        request: proto::GetFeedRequest,
    ) -> Result<proto::GetFeedResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let feed = Seen::by(caller).feed(self.feeds.get(&name).await?);
        Ok(proto::GetFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// The feeds of a seller, by namespace. Who may read anybody's and names no seller gets those of all.
    pub async fn list(
        &self,
        caller: &Caller,
        request: proto::ListFeedsRequest,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let (limit, states) = (page_size(request.page_size, FEEDS_PAGE)?, known(&request.states)?);
        if request.seller.is_empty() && caller::own_seller(caller).is_none() && caller.may(Action::ReadAny) {
            return match &*states {
                [] => self.list_all(caller, &request.page_token, limit).await,
                states => self.list_standing(caller, states, &request.page_token, limit).await,
            };
        }
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        if !states.is_empty() {
            let mut feeds = self.feeds.list(seller, "", FEEDS_OF_A_SELLER_MAX).await?;
            feeds.retain(|feed| stands(&states, feed));
            return Ok(answer(caller, feeds, String::new()));
        }
        let about = About::method("ListFeeds").and("seller", seller);
        let after: Option<String> =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut feeds = self.feeds.list(seller, after.as_deref().unwrap_or_default(), limit + 1).await?;
        let more = feeds.len() > limit;
        feeds.truncate(limit);
        let next = feeds.last().filter(|_| more).map(|last| last.namespace.clone());
        Ok(answer(caller, feeds, tokens::encode(&about, next.as_ref())))
    }

    /// The feeds of all sellers.
    async fn list_all(
        &self,
        caller: &Caller,
        page_token: &str,
        limit: usize,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let about = About::method("ListFeeds of all");
        let after: Option<FeedName> =
            tokens::decode(&about, page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut feeds = self.feeds.list_all(after.as_ref(), limit + 1).await?;
        let more = feeds.len() > limit;
        feeds.truncate(limit);
        let next = feeds.last().filter(|_| more);
        let next =
            next.map(|last| FeedName { seller: last.seller.clone(), namespace: last.namespace.clone() });
        Ok(answer(caller, feeds, tokens::encode(&about, next.as_ref())))
    }

    /// The feeds of all sellers whose last load stands so, as they come in the survey.
    async fn list_standing(
        &self,
        caller: &Caller,
        states: &[State],
        page_token: &str,
        limit: usize,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let about = About::method("ListFeeds by states").and("states", format!("{states:?}"));
        let mut last: Option<FeedName> =
            tokens::decode(&about, page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut place = last.as_ref().map(|name| self.feeds.survey_cursor(name));
        let (mut found, mut more) = (Vec::new(), true);
        for _ in 0..FEED_SURVEYS_MAX {
            let page = self.feeds.survey(place).await?;
            let (mut looked_at, count) = (0, page.feeds.len());
            for feed in page.feeds {
                if found.len() == limit {
                    break;
                }
                looked_at += 1;
                if feed.last_load.is_some_and(|load| states.contains(&load.state)) {
                    found.push(feed.name.clone());
                }
                last = Some(feed.name);
            }
            more = looked_at < count || page.next.is_some();
            place = page.next;
            if found.len() == limit || !more {
                break;
            }
        }
        let mut feeds = Vec::with_capacity(found.len());
        for name in &found {
            match self.feeds.get(name).await {
                // It may stand otherwise by now.
                Ok(feed) if stands(states, &feed) => feeds.push(feed),
                Ok(_) | Err(feeds::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(answer(caller, feeds, tokens::encode(&about, last.as_ref().filter(|_| more))))
    }

    /// Changes what the mask names.
    pub async fn update(
        &self,
        caller: &Caller,
        request: proto::UpdateFeedRequest,
    ) -> Result<proto::UpdateFeedResponse, Refusal> {
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
        Ok(proto::UpdateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// Has a feed go, and its offers with it or not.
    pub async fn delete(
        &self,
        caller: &Caller,
        request: proto::DeleteFeedRequest,
    ) -> Result<proto::DeleteFeedResponse, Refusal> {
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
        Ok(proto::DeleteFeedResponse::default())
    }

    /// Has the link fetched as soon as possible.
    pub async fn fetch_now(
        &self,
        caller: &Caller,
        request: proto::FetchNowRequest,
    ) -> Result<proto::FetchNowResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Write)?;
        match self.feeds.fetch_now(&name).await {
            Ok(()) => Ok(proto::FetchNowResponse::default()),
            Err(feeds::Error::Invalid { text, .. }) => {
                Err(Refusal::new(connectrpc::ErrorCode::FailedPrecondition, "NO_LINK", text))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The states that a request names, each once.
fn known(named: &[EnumValue<State>]) -> Result<Vec<State>, Refusal> {
    let unknown = || Refusal::wrong_field("states", "UNKNOWN_VALUE", "there is no such value");
    let states: Result<BTreeSet<i32>, Refusal> =
        named.iter().map(|state| state.as_known().map(|state| state as i32).ok_or_else(unknown)).collect();
    Ok(states?.into_iter().filter_map(State::from_i32).collect())
}

/// Whether the last load of a feed stands in one of these ways.
fn stands(states: &[State], feed: &Feed) -> bool {
    let state = feed.last_load.as_option().and_then(|load| load.state.as_known());
    state.is_some_and(|state| states.contains(&state))
}

fn answer(caller: &Caller, feeds: Vec<Feed>, next_page_token: String) -> proto::ListFeedsResponse {
    let seen = Seen::by(caller);
    let feeds = feeds.into_iter().map(|feed| seen.feed(feed)).collect();
    proto::ListFeedsResponse { feeds, next_page_token, ..Default::default() }
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
