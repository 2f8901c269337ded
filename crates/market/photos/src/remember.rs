//! Records failures and schedules retries.

use std::time::Duration;

use store::Read;

use crate::config::Config;
use crate::error::{Refusal, Result};
use crate::limits::PAGE_MAX;
use crate::photos::Photos;
use crate::record::UrlError;
use crate::tables::{ERRORS, key, read, url_hash};

/// A failed attempt.
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    is_passing: bool,
    /// `Retry-After` of the server.
    retry_after: Option<Duration>,
}

impl From<fetch::Error> for Failure {
    fn from(error: fetch::Error) -> Self {
        let retry_after = match &error.cause {
            fetch::Cause::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        Self { code: error.code(), message: error.to_string(), is_passing: error.is_passing(), retry_after }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), is_passing: false, retry_after: None }
    }
}

/// The row of a URL after another failure.
pub(crate) fn next_error(
    url: &str,
    hash: &str,
    before: Option<UrlError>,
    failure: &Failure,
    config: &Config,
    now_ms: i64,
) -> UrlError {
    let tries = before.as_ref().map_or(0, |error| error.tries).saturating_add(1);
    let pause = pause(tries, hash, failure.retry_after, config);
    let is_tried_again = failure.is_passing && tries < config.tries_max;
    UrlError {
        url: url.to_owned(),
        code: failure.code.to_owned(),
        message: failure.message.clone(),
        tries,
        first_ms: before.map_or(now_ms, |error| error.first_ms),
        last_ms: now_ms,
        next_try_ms: is_tried_again.then(|| now_ms.saturating_add(pause.as_millis() as i64)),
    }
}

/// Exponential back-off with a jitter of up to a quarter by the hash of the URL.
fn pause(tries: u32, hash: &str, retry_after: Option<Duration>, config: &Config) -> Duration {
    let doubled = config.retry_first.saturating_mul(1 << (tries - 1).min(20)).min(config.retry_max);
    let spread = u32::from_str_radix(hash.get(8..12).unwrap_or_default(), 16).unwrap_or_default();
    let longer = doubled.saturating_add(doubled / 4 * spread / 0x1_0000);
    longer.max(retry_after.unwrap_or_default().min(config.retry_max))
}

impl Photos {
    /// The failures of these URLs in the same order; `None` for those that never failed.
    pub async fn errors_of(&self, urls: &[&str]) -> Result<Vec<Option<UrlError>>> {
        let keys: Vec<_> = urls.iter().map(|url| key(&ERRORS, &url_hash(url))).collect();
        let rows = self.store().get(&keys).await?;
        rows.iter().map(|row| row.as_ref().map(read).transpose()).collect()
    }

    /// A page of all failed URLs, in arbitrary order, and the start of the next page.
    pub async fn errors(
        &self,
        after: Option<store::Key>,
        limit: usize,
    ) -> Result<(Vec<UrlError>, Option<store::Key>)> {
        let mut scan = ERRORS.scan().limit(limit.clamp(1, PAGE_MAX));
        if let Some(after) = after {
            scan = scan.after(after);
        }
        let page = self.store().scan(&scan).await?;
        let errors = page.rows.iter().map(read).collect::<Result<_>>()?;
        Ok((errors, page.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_and_servers_are_listened_to() {
        let config = Config::default();
        let failure = |is_passing, seconds| Failure {
            code: "status",
            message: String::new(),
            is_passing,
            retry_after: Some(Duration::from_secs(seconds)),
        };
        let mut row: Option<UrlError> = None;
        let mut pauses = Vec::new();
        for _ in 0..config.tries_max {
            let next = next_error("u", &"0".repeat(64), row, &failure(true, 0), &config, 1_000);
            pauses.push(next.next_try_ms.map(|next| (next - 1_000) / 1_000));
            row = Some(next);
        }
        let minutes = [60, 120, 240, 480, 960, 1920, 3840].map(Some);
        assert_eq!(pauses[..7], minutes);
        assert_eq!(pauses[7], None, "eight times are enough");
        let asked = next_error("u", &"0".repeat(64), None, &failure(true, 600), &config, 0);
        assert_eq!(asked.next_try_ms, Some(600_000));
        let asked = next_error("u", &"0".repeat(64), None, &failure(true, u64::MAX), &config, 0);
        assert_eq!(asked.next_try_ms, Some(config.retry_max.as_millis() as i64));
        assert_eq!(next_error("u", "", None, &failure(false, 0), &config, 0).next_try_ms, None);
    }
}
