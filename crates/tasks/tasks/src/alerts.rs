//! Delivers alerts to a webhook: a stage of the watcher, so that an alert is retried until it is
//! delivered.

use async_trait::async_trait;
use reqwest::{Client, StatusCode, Url, redirect};
use serde_json::json;
use watcher::{Answer, Fields, Interest, Stage, StageError, Subject};
use wire::torg::tasks::v1::TaskAlert;

use crate::entity::TaskEntity;
use crate::limits::WEBHOOK_TIMEOUT;

const STAGE: &str = "alerts";

/// Delivers alerts by HTTP: a `POST` of `{"task", "number", "kind", "text", "time"}` for each, in
/// order, at least once. The header `idempotency-key` is the same for a repeated delivery.
pub struct Webhook {
    client: Client,
    url: Url,
}

impl Webhook {
    /// The error says what is wrong with the URL.
    pub fn new(url: &str) -> Result<Self, String> {
        let url: Url =
            url.parse().map_err(|error| format!("the URL of the webhook cannot be read: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the URL of the webhook begins with neither http:// nor https://".to_owned());
        }
        net::install_ring();
        let client = Client::builder().timeout(WEBHOOK_TIMEOUT).redirect(redirect::Policy::none()).build();
        let client = client.map_err(|error| format!("no client for the webhook can be made: {error}"))?;
        Ok(Self { client, url })
    }

    async fn tell(&self, task: &str, alert: &TaskAlert) -> Result<(), StageError> {
        let kind = alert.kind.as_known().map(|kind| format!("{kind:?}")).unwrap_or_default();
        let time = alert.time.as_option().and_then(|time| ctl::messages::read_time(time).ok());
        let body = json!({
            "task": task,
            "number": alert.number,
            "kind": kind.trim_start_matches("KIND_").to_lowercase(),
            "text": alert.text,
            "time": time.map(|time| time.to_string()),
        });
        let key = format!("{:016x}-{}", xxhash_rust::xxh3::xxh3_64(task.as_bytes()), alert.number);
        let request = self.client.post(self.url.clone()).header("idempotency-key", key);
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().await;
        match answer.map(|answer| answer.status()) {
            Ok(status) if status.is_success() => Ok(()),
            Ok(StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT) => {
                Err(StageError::Away("the webhook is away".to_owned()))
            }
            Ok(status) => Err(StageError::Passing(format!("the webhook answers {status}"))),
            Err(error) => {
                Err(StageError::Away(format!("the webhook cannot be reached: {}", error.without_url())))
            }
        }
    }
}

#[async_trait]
impl Stage<TaskEntity> for Webhook {
    fn id(&self) -> &str {
        STAGE
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["alerts"]))
    }

    async fn process(&self, subject: &Subject<TaskEntity>) -> Result<Answer<TaskEntity>, StageError> {
        let reported = <[u8; 8]>::try_from(&subject.state[..]).map_or(0, u64::from_le_bytes);
        let task = &subject.entity;
        for alert in task.alerts.iter().filter(|alert| alert.number > reported) {
            self.tell(&task.name, alert).await?;
        }
        let last = task.last_alert().max(reported);
        Ok(Answer::untouched().with_state(last.to_le_bytes().to_vec()))
    }
}
