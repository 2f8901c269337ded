//! The HTTP callback with which services report the end of a run: `POST /tasks/runs/{run}/end`,
//! with the token from the request that started it.

use ::runs::{Callback, Error, RunId};
use axum::body::to_bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

use super::router::{Shared, failure, json_answer};

const TOKEN: &str = "torg-callback-token";
/// Maximum body size: a text and values.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// Records the end of a run. The first report counts.
pub(super) async fn end(
    State(shared): State<Shared>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let wrong = |text: &str| failure(StatusCode::BAD_REQUEST, "invalid_argument", text);
    let Some(runner) = shared.slots.runs.get() else {
        return failure(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "this process knows no runs, or is starting",
        );
    };
    let Some(run) = path.ok().and_then(|Path(run)| run.parse::<RunId>().ok()) else {
        return failure(StatusCode::NOT_FOUND, "not_found", "no run has such an id");
    };
    let token = request.headers().get(TOKEN).and_then(|token| token.to_str().ok()).map(str::to_owned);
    let Some(token) = token else {
        let text = "the header torg-callback-token is missing: send back the one that came with the request";
        return failure(StatusCode::UNAUTHORIZED, "unauthenticated", text);
    };
    let Ok(body) = to_bytes(request.into_body(), BODY_BYTES_MAX).await else {
        return wrong("the body broke off, or is larger than 256 KiB");
    };
    let said: Callback = match serde_json::from_slice(&body) {
        Ok(said) => said,
        Err(error) => {
            return wrong(&format!(
                "the body is not as expected ({error}): send {{\"done\": true}}, or {{\"done\": false, \"detail\": \"why\"}}"
            ));
        }
    };
    match runner.callback(&run, &token, said).await {
        Ok(first) => json_answer(StatusCode::OK, &json!({"first": first})),
        Err(Error::NotStarted(_)) => {
            failure(StatusCode::NOT_FOUND, "not_found", "no run of this process has such an id")
        }
        Err(error @ Error::Token(_)) => {
            failure(StatusCode::FORBIDDEN, "permission_denied", &error.to_string())
        }
        Err(error @ Error::Callback { .. }) => wrong(&error.to_string()),
        Err(error) => {
            tracing::error!(%run, %error, "the end of a run could not be taken in");
            failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "the end could not be noted: tell it again",
            )
        }
    }
}
