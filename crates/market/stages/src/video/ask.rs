//! Requests the availability of a video from its host.

use fetch::{Cause, Client, Fetched, Limits, Request};
use serde::Deserialize;
use url::Url;

use super::hosts::Ask;
use crate::limits::{VIDEO_ANSWER_BYTES_MAX, VIDEO_ANSWER_TIME_MAX, VIDEO_TITLE_CHARS_MAX};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// With its title.
    Available(String),
    /// With a code and a text for people.
    Unavailable(String, String),
}

/// The used part of an oEmbed answer.
#[derive(Deserialize)]
struct Oembed {
    #[serde(default)]
    title: Option<String>,
}

/// The error is temporary.
pub(super) async fn ask(client: &Client, how: &Ask, video: &Url) -> Result<Said, String> {
    match how {
        Ask::Oembed(endpoint) => ask_oembed(client, endpoint, video).await,
        Ask::Page => ask_page(client, video).await,
    }
}

async fn ask_oembed(client: &Client, endpoint: &str, video: &Url) -> Result<Said, String> {
    let mut question = Url::parse(endpoint).map_err(|error| format!("the endpoint {endpoint:?}: {error}"))?;
    question.query_pairs_mut().append_pair("url", video.as_str());
    let request = Request::get(question).limits(limits(client));
    let answer = match client.send(&request).await {
        Ok(Fetched::Found(download)) => download.body.collect().await,
        Ok(Fetched::NotModified) => return Err("the host answers a question that was not asked".to_owned()),
        Err(error) => Err(error),
    };
    match answer {
        Ok(bytes) => match serde_json::from_slice::<Oembed>(&bytes) {
            Ok(oembed) => Ok(Said::Available(title(&oembed.title.unwrap_or_default()))),
            Err(error) => Err(format!("{endpoint} does not answer with oEmbed: {error}")),
        },
        // Other errors concern the endpoint, not the video.
        Err(error) => refused(&error).ok_or_else(|| error.to_string()),
    }
}

async fn ask_page(client: &Client, video: &Url) -> Result<Said, String> {
    let limits = limits(client);
    let mut answer = client.send(&Request::head(video.clone()).limits(limits.clone())).await;
    if let Err(error) = &answer
        && status(error).is_some_and(|status| matches!(status, 405 | 501))
    {
        answer = client.send(&Request::get(video.clone()).limits(limits)).await;
    }
    match answer {
        Ok(_) => Ok(Said::Available(String::new())),
        Err(error) if error.is_passing() => Err(error.to_string()),
        Err(error) => Ok(refused(&error)
            .unwrap_or_else(|| Said::Unavailable(error.code().to_owned(), error.cause.to_string()))),
    }
}

/// The answer in a permanent status.
fn refused(error: &fetch::Error) -> Option<Said> {
    let status = status(error).filter(|_| !error.is_passing())?;
    let (code, text) = match status {
        401 | 403 => ("private", "the video is private, or must not be embedded: allow it, or link another"),
        400 | 404 | 410 => ("not_found", "the host has no such video: check the link"),
        _ => ("status", "the host does not show the video"),
    };
    Some(Said::Unavailable(code.to_owned(), format!("{text} ({status})")))
}

fn status(error: &fetch::Error) -> Option<u16> {
    match &error.cause {
        Cause::Status { status, .. } => Some(status.as_u16()),
        _ => None,
    }
}

fn limits(client: &Client) -> Limits {
    Limits {
        bytes_max: VIDEO_ANSWER_BYTES_MAX,
        unpacked_bytes_max: VIDEO_ANSWER_BYTES_MAX,
        total_time_max: VIDEO_ANSWER_TIME_MAX,
        ..client.rules().limits.clone()
    }
}

fn title(title: &str) -> String {
    title.chars().filter(|c| !c.is_control()).take(VIDEO_TITLE_CHARS_MAX).collect()
}
