//! An action from its beginning until it is written down with what came of it.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use access::{Caller, Role};
use contract::torg::admin::v1::Action;
use offers::time::from_time;
use serde_json::Value;
use tokio::time::timeout;

use super::limits::{ERROR_CHARS_MAX, REFUSED_IN_A_MINUTE_MAX, WRITE_WAIT};
use super::{Actions, shown};

/// What is known of an action when it begins.
pub(crate) struct Beginning<'a> {
    pub(crate) caller: &'a Caller,
    /// Whether it came through the console.
    pub(crate) in_console: bool,
    /// `torg.stages.v1.StageAdminService/PauseStage`.
    pub(crate) method: String,
    pub(crate) about: String,
    pub(crate) request: Value,
}

/// Why nothing came of an action.
pub(crate) struct Failure<'a> {
    /// As RPC names it.
    pub(crate) code: &'a str,
    pub(crate) text: &'a str,
}

/// An action that will be written down, at the latest when it is dropped.
pub(crate) struct Noted {
    action: Option<Action>,
    actions: Actions,
}

impl Noted {
    pub(super) fn new(actions: &Actions, beginning: Beginning<'_>) -> Noted {
        let Beginning { caller, in_console, method, about, request } = beginning;
        let action = Action {
            time: Some(from_time(actions.now())).into(),
            author: caller.shown_name().into_owned(),
            roles: caller.roles.iter().map(|role| role.name().to_owned()).collect(),
            method,
            about,
            request: shown::request(request),
            // Overwritten at a proper end.
            outcome: "canceled".to_owned(),
            through: if in_console { "console" } else { "" }.to_owned(),
            ..Action::default()
        };
        Noted { action: Some(action), actions: actions.clone() }
    }

    /// More is known of the request by now.
    pub(crate) fn know(&mut self, request: Value) {
        if let Some(action) = &mut self.action {
            action.request = shown::request(request);
        }
    }

    /// Writes down what came of it. Waits a little, so that whoever looks then finds it.
    pub(crate) async fn end(mut self, failure: Option<Failure<'_>>) {
        let Some(mut action) = self.action.take() else { return };
        "ok".clone_into(&mut action.outcome);
        if let Some(Failure { code, text }) = failure {
            code.clone_into(&mut action.outcome);
            action.error = shown::cut(text, ERROR_CHARS_MAX);
            if !self.actions.refused.take_one(self.actions.now().as_ms()) {
                tracing::warn!(
                    method = action.method,
                    author = action.author,
                    "too many actions are refused: this one is not recorded"
                );
                return;
            }
        }
        // It goes on if it takes longer.
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

/// Whether a feed is the caller's own, as a seller. A seller who is not named is the caller.
pub(crate) fn is_own_feed(caller: &Caller, seller: Option<&str>) -> bool {
    let own = caller.seller.as_deref().filter(|_| caller.roles.has(Role::Seller));
    own.is_some() && seller.or(own) == own
}

/// How many actions were refused in this minute.
#[derive(Default)]
pub(super) struct Refused {
    minute: AtomicI64,
    count: AtomicU32,
}

impl Refused {
    /// Whether one more may be noted in this minute.
    fn take_one(&self, now_ms: i64) -> bool {
        let minute = now_ms / 60_000;
        if self.minute.swap(minute, Ordering::Relaxed) != minute {
            self.count.store(0, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed) < REFUSED_IN_A_MINUTE_MAX
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
    fn refusals_are_noted_up_to_a_limit_in_every_minute() {
        let refused = Refused::default();
        assert!((0..REFUSED_IN_A_MINUTE_MAX).all(|_| refused.take_one(59_999)));
        assert!(!refused.take_one(59_999));
        assert!(refused.take_one(60_000));
    }
}
