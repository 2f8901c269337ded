//! The audit log: what people and programs did, or tried to do, that changes how the system works.
//!
//! Each action has one row by time and one row by its object. Which calls are actions, and what is
//! recorded of them, is decided around the services (`server/rpc/recorder.rs`, and `server/feeds`
//! for files). Secrets are masked before anything is stored ([`shown`]). If an action cannot be
//! written, the log says so and the call still succeeds.

pub(crate) mod limits;
mod listed;
mod noted;
pub(crate) mod shown;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use buffa::Message as _;
use clock::{Clock, Time};
use offers::time::{from_time, to_ms};
use store::{Batch, Key, Read as _, Store, Table, TableDef};
use tokio::sync::watch;
use wire::torg::admin::v1::Action;

use limits::{CLEAN_EVERY, CLEANED_AT_ONCE, KEPT};
pub(crate) use listed::Wanted;
use noted::Refused;
pub(crate) use noted::{Beginning, Failure, Noted, is_own_feed};

/// Actions by time, all in shard zero. The column `id` separates actions of the same millisecond.
static ACTIONS: Table<(u32, i64, String)> = Table::plain("actions", &["shard", "at", "id"]);
/// An index by object; the rows are empty.
static BY_ABOUT: Table<(u32, String, i64, String)> =
    Table::plain("actions_about", &["shard", "about", "at", "id"]);

const SHARD: u32 = 0;

pub(crate) fn tables() -> [&'static TableDef; 2] {
    [ACTIONS.def(), BY_ABOUT.def()]
}

/// The actions of a store. Cheap to clone.
#[derive(Clone)]
pub struct Actions {
    store: Store,
    clock: Clock,
    refused: Arc<Refused>,
    /// Orders the actions of this process that happen in the same millisecond.
    count: Arc<AtomicU32>,
}

/// A position in the list of actions; older actions follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    at: i64,
    id: String,
}

impl Place {
    /// The place as a page token.
    pub fn token(&self) -> String {
        format!("{}-{}", self.at, self.id)
    }

    /// Parses a page token; `None` if it is malformed.
    pub fn from_token(token: &str) -> Option<Place> {
        let (at, id) = token.split_once('-')?;
        let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Place { at: at.parse().ok().filter(|_| is_id)?, id: id.to_owned() })
    }
}

/// Digits of the `id` column of a key.
const ID_DIGITS: usize = 16;

impl Actions {
    /// The store must have been opened with [`tables`].
    pub fn new(store: Store, clock: Clock) -> Actions {
        Actions { store, clock, refused: Arc::default(), count: Arc::default() }
    }

    /// Starts recording an action.
    pub fn begin(&self, beginning: Beginning<'_>) -> Noted {
        Noted::new(self, beginning)
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    async fn record(&self, action: &Action) -> store::Result<()> {
        let at = action.time.as_option().map_or(0, to_ms);
        let id = self.next_id();
        let mut batch = Batch::new();
        batch.set(ACTIONS.key((SHARD, at, &*id)), action.encode_to_vec());
        if !action.about.is_empty() {
            batch.set(BY_ABOUT.key((SHARD, &*action.about, at, &*id)), Vec::new());
        }
        // The batch has no preconditions, so it cannot conflict.
        self.store.commit(batch).await.map(|_| ())
    }

    /// A key suffix for actions of the same millisecond: a counter orders those of this process,
    /// random digits separate processes.
    fn next_id(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{count:08x}{:08x}", rand::random::<u32>())
    }

    /// Deletes expired actions periodically until `stop` turns true.
    pub async fn run_cleaning(&self, mut stop: watch::Receiver<bool>) {
        loop {
            match self.clean().await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(removed, "old recorded actions are removed"),
                Err(error) => tracing::warn!(%error, "old recorded actions cannot be removed for now"),
            }
            let is_over = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => true,
                () = tokio::time::sleep(CLEAN_EVERY) => false,
            };
            if is_over {
                return;
            }
        }
    }

    /// Deletes all expired actions and returns their number.
    async fn clean(&self) -> store::Result<usize> {
        let (before, mut removed) = ((self.now() - KEPT).as_ms(), 0);
        loop {
            let old = ACTIONS.prefix((SHARD,)).below(ACTIONS.bound((SHARD, before))).limit(CLEANED_AT_ONCE);
            let rows = self.store.scan(&old).await?.rows;
            if rows.is_empty() {
                return Ok(removed);
            }
            let mut batch = Batch::new();
            for row in &rows {
                let Place { at, id } = place(&row.key)?;
                let about = read(&row.value, &row.key).about;
                if !about.is_empty() {
                    batch.delete(BY_ABOUT.key((SHARD, &*about, at, &*id)));
                }
                batch.delete(row.key.clone());
            }
            let _ = self.store.commit(batch).await?;
            removed += rows.len();
        }
    }
}

fn place(key: &Key) -> store::Result<Place> {
    let (_, at, id) = ACTIONS.parts(key)?;
    Ok(Place { at, id })
}

/// A row that cannot be decoded is listed as such instead of being hidden.
fn read(value: &[u8], key: &Key) -> Action {
    Action::decode_from_slice(value).unwrap_or_else(|error| {
        tracing::warn!(%key, %error, "a recorded action cannot be read");
        let at = place(key).map_or(0, |place| place.at);
        Action {
            time: Some(from_time(Time::from_ms(at))).into(),
            error: "what was recorded cannot be read".to_owned(),
            ..Action::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use store::{Memory, Schema, StoreOptions};

    use super::limits::LOOKED_AT_MAX;
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn open() -> (Actions, Arc<Mutex<Time>>) {
        let schema = Schema::new(1, tables()).unwrap();
        let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
        let now = Arc::new(Mutex::new(Time::from_seconds(1_800_000_000)));
        let shown = Arc::clone(&now);
        (Actions::new(store, Clock::new(move || *shown.lock().unwrap())), now)
    }

    async fn record(actions: &Actions, about: &str, author: &str) {
        let action = Action {
            time: Some(from_time(actions.now())).into(),
            about: about.to_owned(),
            author: author.to_owned(),
            ..Action::default()
        };
        actions.record(&action).await.unwrap();
    }

    async fn all(actions: &Actions, about: &str, page: usize) -> Vec<String> {
        let (mut authors, mut after) = (Vec::new(), None);
        let wanted = Wanted { about: about.to_owned(), ..Wanted::default() };
        loop {
            let (found, next) = actions.list(&wanted, after, page).await.unwrap();
            assert!(found.len() <= page);
            authors.extend(found.into_iter().map(|action| action.author));
            let Some(next) = next else { return authors };
            assert_eq!(Place::from_token(&next.token()), Some(next.clone()));
            after = Some(next);
        }
    }

    #[tokio::test]
    async fn actions_are_listed_by_pages_the_newest_first_and_by_what_they_are_about() {
        let (actions, now) = open();
        for n in 0..7 {
            record(&actions, if n % 2 == 0 { "price" } else { "" }, &n.to_string()).await;
            *now.lock().unwrap() = Time::from_seconds(1_800_000_000 + n + 1);
        }
        for page in [1, 2, 3, 100] {
            assert_eq!(all(&actions, "", page).await, ["6", "5", "4", "3", "2", "1", "0"]);
            assert_eq!(all(&actions, "price", page).await, ["6", "4", "2", "0"]);
        }
        assert!(all(&actions, "pric", 10).await.is_empty(), "the whole of what it is about");
    }

    #[tokio::test]
    async fn actions_are_found_by_author_outcome_and_service_however_many_others_are_between() {
        let (actions, _) = open();
        for n in 0..LOOKED_AT_MAX + 20 {
            let (author, outcome) = if n % 700 == 0 { ("eve", "not_found") } else { ("ann", "ok") };
            let method =
                if n == 700 { "torg.tasks.v1.TaskService/RunTask" } else { "torg.stages.v1.S/Pause" };
            let action = Action {
                time: Some(from_time(actions.now())).into(),
                author: author.to_owned(),
                outcome: outcome.to_owned(),
                method: method.to_owned(),
                about: "price".to_owned(),
                ..Action::default()
            };
            actions.record(&action).await.unwrap();
        }
        let count = async |wanted: Wanted| {
            let (mut count, mut after, mut pages) = (0, None, 0);
            loop {
                let (found, next) = actions.list(&wanted, after, 2).await.unwrap();
                assert!(found.len() <= 2);
                (count, pages) = (count + found.len(), pages + 1);
                if next.is_none() {
                    return (count, pages > 1);
                }
                after = next;
            }
        };
        let nothing = Wanted::default;
        assert_eq!(count(Wanted { author: "eve".into(), ..nothing() }).await, (3, true));
        assert_eq!(count(Wanted { failed: true, about: "price".into(), ..nothing() }).await, (3, true));
        let tasks = || Wanted { method_prefix: "torg.tasks.".into(), ..nothing() };
        assert_eq!(count(tasks()).await, (1, true), "what is looked at for one page has an end");
        assert_eq!(count(Wanted { author: "ann".into(), ..tasks() }).await, (0, true));
    }

    #[tokio::test]
    async fn actions_of_one_moment_are_all_kept_in_their_order() {
        let (actions, _) = open();
        let authors: Vec<String> = (0..20).map(|n: u32| n.to_string()).collect();
        for author in &authors {
            record(&actions, "", author).await;
        }
        let told: Vec<String> = all(&actions, "", 3).await.into_iter().rev().collect();
        assert_eq!(told, authors);
    }

    #[tokio::test]
    async fn actions_older_than_four_hundred_days_are_removed_with_their_second_row() {
        let (actions, now) = open();
        for n in 0..CLEANED_AT_ONCE + 3 {
            record(&actions, "price", &n.to_string()).await;
        }
        let began = actions.now();
        *now.lock().unwrap() = began + DAY;
        record(&actions, "price", "last").await;
        *now.lock().unwrap() = began + KEPT;
        assert_eq!(actions.clean().await.unwrap(), 0);
        *now.lock().unwrap() = began + KEPT + Duration::from_secs(1);
        assert_eq!(actions.clean().await.unwrap(), CLEANED_AT_ONCE + 3);
        assert_eq!(all(&actions, "price", 50).await, ["last"]);
        let rows = actions.store.scan(&BY_ABOUT.scan()).await.unwrap().rows;
        assert_eq!(rows.len(), 1);
    }

    #[tokio::test]
    async fn an_action_that_is_cut_off_is_recorded_as_one_that_may_have_been_done() {
        let (actions, _) = open();
        let begin = || {
            let (method, request) = ("a.B/C".to_owned(), serde_json::json!({}));
            let beginning = Beginning {
                caller: &access::Caller::local(),
                in_console: false,
                method,
                about: String::new(),
                request,
            };
            actions.begin(beginning)
        };
        begin().end(None).await;
        drop(begin());
        let found = loop {
            let (found, _) = actions.list(&Wanted::default(), None, 10).await.unwrap();
            if found.len() == 2 {
                break found;
            }
            tokio::task::yield_now().await;
        };
        let mut told: Vec<(&str, bool)> = found
            .iter()
            .map(|action| (&*action.outcome, action.error.contains("done in part or as a whole")))
            .collect();
        told.sort_unstable();
        assert_eq!(told, [("canceled", true), ("ok", false)]);
    }

    #[test]
    fn what_is_no_token_is_no_place() {
        for wrong in ["", "-", "5", "5-", "5-zzzzzzzzzzzzzzzz", "x-0123456789abcdef", "5-0123456789abcde"] {
            assert_eq!(Place::from_token(wrong), None, "{wrong}");
        }
    }
}
