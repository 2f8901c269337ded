//! `torg.feeds.v1.FeedService`: managing feeds, and the results of their loads.
//!
//! Sellers have access to their own feeds. Staff and services see all feeds; services and admins
//! change them. Mappings of categories may be set by the seller, by services and by staff.

mod checks;
mod files;
mod loads;
mod mappings;
mod masks;
mod view;

use std::collections::BTreeSet;

use access::{Action, Caller};
use buffa::{EnumValue, Enumeration as _};
use feeds::FeedName;
use feeds::Feeds;
use feeds::limits::FEEDS_OF_A_SELLER_MAX;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{self as proto, Feed, Missing};

pub use files::{ProblemRow, Report, Upload};
pub use view::language_of;

use crate::caller::{self, Intent};
use crate::errors::Refusal;
use crate::limits::{FEED_SURVEYS_MAX, FEEDS_PAGE, page_size};
use crate::service::service;
use crate::tokens::{self, About};
use view::FeedView;

/// The service: each call takes the caller and the request. Cheap to clone.
#[derive(Clone)]
pub struct FeedCalls {
    feeds: Feeds,
    /// The page that explains problem codes; a code is a fragment of it.
    errors_url: String,
}

service! { FeedService for FeedCalls {
    create_feed(CreateFeedRequest) -> CreateFeedResponse = create;
    get_feed(GetFeedRequest) -> GetFeedResponse = get;
    list_feeds(ListFeedsRequest) -> ListFeedsResponse = list;
    update_feed(UpdateFeedRequest) -> UpdateFeedResponse = update;
    delete_feed(DeleteFeedRequest) -> DeleteFeedResponse = delete;
    fetch_now(FetchNowRequest) -> FetchNowResponse = fetch_now;
    list_loads(ListLoadsRequest) -> ListLoadsResponse = list_loads;
    confirm_load(ConfirmLoadRequest) -> ConfirmLoadResponse = confirm_load;
    list_mappings(ListMappingsRequest) -> ListMappingsResponse = list_mappings;
    set_mapping(SetMappingRequest) -> SetMappingResponse = set_mapping;
    get_load(GetLoadRequest) -> GetLoadResponse = get_load in the language of |_| "";
    list_problems(ListProblemsRequest) -> ListProblemsResponse = list_problems in the language of |it| &it.language;
    summarize_problems(SummarizeProblemsRequest) -> SummarizeProblemsResponse = summarize_problems
        in the language of |it| &it.language;
}}

impl FeedCalls {
    #[must_use]
    pub fn new(feeds: Feeds, errors_url: String) -> Self {
        Self { feeds, errors_url }
    }

    /// Creates a feed. Fields that Torg sets are ignored; only callers who write for sellers may
    /// say that it comes from another service.
    pub async fn create(
        &self,
        caller: &Caller,
        request: proto::CreateFeedRequest,
    ) -> Result<proto::CreateFeedResponse, Refusal> {
        let given = request.feed.into_option().ok_or_else(|| Refusal::required("feed"))?;
        let seller = caller::whose(caller, "feed.seller", &given.seller, Intent::Write)?.to_owned();
        let namespace = checks::namespace("feed.namespace", &given.namespace)?.to_owned();
        if given.parsed.is_set() && !caller.may(Action::WriteForSeller) {
            let text = "only services may set this: leave it out";
            return Err(Refusal::wrong_field("feed.parsed", "NOT_SETTABLE", text));
        }
        checks::feed(&given)?;
        checks::new_password(&given)?;
        let made = self.feeds.create(Feed { seller, namespace, ..given }).await.map_err(within_feed)?;
        let feed = FeedView::by(caller).feed(made);
        Ok(proto::CreateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// One feed with its last load.
    pub async fn get(
        &self,
        caller: &Caller,
        request: proto::GetFeedRequest,
    ) -> Result<proto::GetFeedResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let feed = FeedView::by(caller).feed(self.feeds.get(&name).await?);
        Ok(proto::GetFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// The feeds of a seller by namespace; of all sellers for callers who may read them and name
    /// none.
    pub async fn list(
        &self,
        caller: &Caller,
        request: proto::ListFeedsRequest,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let (limit, states) = (page_size(request.page_size, FEEDS_PAGE)?, known(&request.states)?);
        if request.seller.is_empty() && caller::own_seller(caller).is_none() && caller.may(Action::ReadAny) {
            return match &*states {
                [] => self.list_all(caller, &request.page_token, limit).await,
                states => self.list_by_state(caller, states, &request.page_token, limit).await,
            };
        }
        let seller = caller::whose(caller, "seller", &request.seller, Intent::Read)?;
        if !states.is_empty() {
            let mut feeds = self.feeds.list(seller, "", FEEDS_OF_A_SELLER_MAX).await?;
            feeds.retain(|feed| has_state(&states, feed));
            return Ok(answer(caller, feeds, String::new()));
        }
        let about = About::method("ListFeeds").and("seller", seller);
        let after: Option<String> = tokens::page(&about, &request.page_token)?;
        let mut feeds = self.feeds.list(seller, after.as_deref().unwrap_or_default(), limit + 1).await?;
        let next_page_token = tokens::cut(&about, &mut feeds, limit, |last| last.namespace.clone());
        Ok(answer(caller, feeds, next_page_token))
    }

    async fn list_all(
        &self,
        caller: &Caller,
        page_token: &str,
        limit: usize,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let about = About::method("ListFeeds of all");
        let after: Option<FeedName> = tokens::page(&about, page_token)?;
        let mut feeds = self.feeds.list_all(after.as_ref(), limit + 1).await?;
        let name = |last: &Feed| FeedName { seller: last.seller.clone(), namespace: last.namespace.clone() };
        let next_page_token = tokens::cut(&about, &mut feeds, limit, name);
        Ok(answer(caller, feeds, next_page_token))
    }

    /// The feeds of all sellers by the state of the last load, in the order of the survey.
    async fn list_by_state(
        &self,
        caller: &Caller,
        states: &[State],
        page_token: &str,
        limit: usize,
    ) -> Result<proto::ListFeedsResponse, Refusal> {
        let about = About::method("ListFeeds by states").and("states", format!("{states:?}"));
        let mut last: Option<FeedName> = tokens::page(&about, page_token)?;
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
                // Its state may have changed meanwhile.
                Ok(feed) if has_state(states, &feed) => feeds.push(feed),
                Ok(_) | Err(feeds::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(answer(caller, feeds, tokens::encode(&about, last.as_ref().filter(|_| more))))
    }

    /// Changes the fields of the mask.
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
        let feed = FeedView::by(caller).feed(feed);
        Ok(proto::UpdateFeedResponse { feed: Some(feed).into(), ..Default::default() })
    }

    /// Deletes a feed, with or without its offers.
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
                let text = "offers of a deleted feed are removed or made manual";
                return Err(Refusal::wrong_field("offers", "NOT_ALLOWED", text));
            }
            None => return Err(Refusal::wrong_field("offers", "UNKNOWN_VALUE", "there is no such value")),
        };
        self.feeds.delete(&name, offers).await?;
        Ok(proto::DeleteFeedResponse::default())
    }

    /// Fetches the link as soon as possible.
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

/// The states of a filter, without duplicates.
fn known(named: &[EnumValue<State>]) -> Result<Vec<State>, Refusal> {
    let unknown = || Refusal::wrong_field("states", "UNKNOWN_VALUE", "there is no such value");
    let states: Result<BTreeSet<i32>, Refusal> =
        named.iter().map(|state| state.as_known().map(|state| state as i32).ok_or_else(unknown)).collect();
    Ok(states?.into_iter().filter_map(State::from_i32).collect())
}

/// Whether the last load has one of these states.
fn has_state(states: &[State], feed: &Feed) -> bool {
    let state = feed.last_load.as_option().and_then(|load| load.state.as_known());
    state.is_some_and(|state| states.contains(&state))
}

fn answer(caller: &Caller, feeds: Vec<Feed>, next_page_token: String) -> proto::ListFeedsResponse {
    let view = FeedView::by(caller);
    let feeds = feeds.into_iter().map(|feed| view.feed(feed)).collect();
    proto::ListFeedsResponse { feeds, next_page_token, ..Default::default() }
}

/// The feed that a request names, if the caller has access to the seller's feeds. It may not exist.
fn named(caller: &Caller, seller: &str, namespace: &str, intent: Intent) -> Result<FeedName, Refusal> {
    let seller = caller::whose(caller, "seller", seller, intent)?.to_owned();
    Ok(FeedName { seller, namespace: checks::namespace("namespace", namespace)?.to_owned() })
}

/// Prefixes the field of an error with `feed`.
fn within_feed(error: feeds::Error) -> Refusal {
    match error {
        feeds::Error::Invalid { field, text } => {
            feeds::Error::Invalid { field: format!("feed.{field}"), text }.into()
        }
        other => other.into(),
    }
}
