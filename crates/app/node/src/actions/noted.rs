//! Records one action from its beginning to its outcome.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use access::{Caller, Role};
use offers::time::from_time;
use serde_json::Value;
use tokio::time::timeout;
use wire::torg::admin::v1::Action;

use super::limits::{REFUSED_AUTHORS_MAX, REFUSED_IN_A_MINUTE_MAX, WRITE_WAIT};
use super::{Actions, shown};

/// The recorded error of an action whose outcome is unknown.
const CUT_OFF: &str =
    "cut off: its client went away, or it took too long; it may have been done in part or as a whole";

/// The facts known when an action begins.
pub struct Beginning<'a> {
    pub caller: &'a Caller,
    pub in_console: bool,
    /// For example `torg.stages.v1.StageAdminService/PauseStage`.
    pub method: String,
    pub about: String,
    pub request: Value,
}

pub struct Failure<'a> {
    /// The RPC error code.
    pub code: &'a str,
    pub text: &'a str,
}

/// An action in progress. It is written when it ends, or when it is dropped.
pub struct Noted {
    action: Option<Action>,
    actions: Actions,
}

impl Noted {
    pub(super) fn new(actions: &Actions, beginning: Beginning<'_>) -> Noted {
        let Beginning { caller, in_console, method, about, request } = beginning;
        let action = Action {
            time: Some(from_time(actions.now())).into(),
            author: caller.display_name().into_owned(),
            roles: caller.roles.iter().map(|role| role.name().to_owned()).collect(),
            request: shown::request(&method, request),
            method,
            about,
            // Overwritten by `end`.
            outcome: "canceled".to_owned(),
            error: CUT_OFF.to_owned(),
            through: if in_console { "console" } else { "" }.to_owned(),
            ..Action::default()
        };
        Noted { action: Some(action), actions: actions.clone() }
    }

    /// Replaces the request, when more of it is known.
    pub fn know(&mut self, request: Value) {
        if let Some(action) = &mut self.action {
            action.request = shown::request(&action.method, request);
        }
    }

    /// Writes the action with its outcome. Waits a little, so that a caller who lists actions right
    /// after the response finds it.
    pub async fn end(mut self, failure: Option<Failure<'_>>) {
        let Some(mut action) = self.action.take() else { return };
        "ok".clone_into(&mut action.outcome);
        action.error.clear();
        if let Some(Failure { code, text }) = failure {
            code.clone_into(&mut action.outcome);
            action.error = shown::error(&action.method, text);
            match self.actions.refused.take_one(&action.author, self.actions.now().as_ms()) {
                Taken::Within => {}
                Taken::FirstBeyond => {
                    tracing::warn!(
                        method = action.method,
                        author = action.author,
                        "too many actions are refused: in this minute no more of them are recorded"
                    );
                    return;
                }
                Taken::Beyond => return,
            }
        }
        // If it takes longer, the write goes on in the background.
        let _ = timeout(WRITE_WAIT, tokio::spawn(write(self.actions.clone(), action))).await;
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(action) = self.action.take() {
            tokio::spawn(write(self.actions.clone(), action));
        }
    }
}

async fn write(actions: Actions, action: Action) {
    if let Err(error) = actions.record(&action).await {
        let Action { author, method, about, outcome, .. } = action;
        tracing::warn!(%error, author, method, about, outcome, "an action cannot be recorded");
    }
}

/// True if the feed belongs to the calling seller. Without a seller name the feed is the caller's.
pub(crate) fn is_own_feed(caller: &Caller, seller: Option<&str>) -> bool {
    let own = caller.seller.as_deref().filter(|_| caller.roles.has(Role::Seller));
    own.is_some() && seller.or(own) == own
}

/// Refused actions per author in the current minute.
#[derive(Default)]
pub(super) struct Refused(Mutex<Minute>);

#[derive(Default)]
struct Minute {
    number: i64,
    by_author: BTreeMap<String, u32>,
    /// Authors beyond the limit share this counter.
    others: u32,
}

/// Whether one more refused action may be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Within,
    /// The first one that is dropped.
    FirstBeyond,
    Beyond,
}

impl Refused {
    /// Counts one refused action of this author.
    fn take_one(&self, author: &str, now_ms: i64) -> Taken {
        let number = now_ms / 60_000;
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.number != number {
            *minute = Minute { number, ..Minute::default() };
        }
        let Minute { by_author, others, .. } = &mut *minute;
        let is_told_apart = by_author.len() < REFUSED_AUTHORS_MAX || by_author.contains_key(author);
        let count = if is_told_apart { by_author.entry(author.to_owned()).or_default() } else { others };
        *count = count.saturating_add(1);
        match *count {
            ..=REFUSED_IN_A_MINUTE_MAX => Taken::Within,
            count if count == REFUSED_IN_A_MINUTE_MAX + 1 => Taken::FirstBeyond,
            _ => Taken::Beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use access::{Proof, Roles};

    use super::*;

    #[test]
    fn a_feed_is_a_sellers_own_by_the_role_and_by_the_name() {
        let caller = |role: Role, seller: Option<&str>| Caller {
            subject: "somebody".to_owned(),
            seller: seller.map(str::to_owned),
            anonymous: None,
            roles: Roles::NONE.with(role),
            proof: Proof::Token { issuer: String::new() },
        };
        let ann = caller(Role::Seller, Some("ann"));
        assert!(is_own_feed(&ann, Some("ann")) && is_own_feed(&ann, None));
        assert!(!is_own_feed(&ann, Some("bob")));
        assert!(!is_own_feed(&caller(Role::Admin, None), Some("ann")));
        assert!(!is_own_feed(&caller(Role::Admin, Some("ann")), Some("ann")), "not as a seller");
    }

    #[test]
    fn refusals_of_one_author_are_noted_up_to_a_limit_in_every_minute_and_hide_nobody_elses() {
        let refused = Refused::default();
        assert!((0..REFUSED_IN_A_MINUTE_MAX).all(|_| refused.take_one("eve", 59_999) == Taken::Within));
        assert_eq!(refused.take_one("eve", 59_999), Taken::FirstBeyond);
        assert_eq!(refused.take_one("eve", 59_999), Taken::Beyond);
        assert_eq!(refused.take_one("ann", 59_999), Taken::Within);
        assert_eq!(refused.take_one("eve", 60_000), Taken::Within, "the next minute");
    }

    #[test]
    fn authors_beyond_the_limit_share_one_count() {
        let refused = Refused::default();
        for n in 0..REFUSED_AUTHORS_MAX {
            assert_eq!(refused.take_one(&format!("{n}"), 0), Taken::Within);
        }
        let shared = |n: u32| refused.take_one(&format!("other {n}"), 0);
        assert!((0..REFUSED_IN_A_MINUTE_MAX).all(|n| shared(n) == Taken::Within));
        assert_eq!(shared(REFUSED_IN_A_MINUTE_MAX), Taken::FirstBeyond);
        assert_eq!(refused.take_one("0", 0), Taken::Within, "who was there before has a count of their own");
    }
}
