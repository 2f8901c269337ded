//! HTTP routes of the demo's own site.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{StatusCode, header};
use tokio::sync::Mutex;

use super::feeds;
use super::limits::DRAWN_KEPT;
use super::pictures::Picture;
use super::site::{FEEDS, PATH, PHOTOS, Site, VIDEOS};

pub(super) fn routes(site: Site) -> Router {
    Router::new().route(&format!("{PATH}{{folder}}/{{file}}"), get(show)).with_state(Files::new(site))
}

/// The files of the site. Pictures are drawn on request, one at a time; the most recent ones are
/// cached.
#[derive(Clone)]
struct Files {
    site: Site,
    drawn: Arc<Mutex<VecDeque<(Drawn, Bytes)>>>,
}

/// A picture in one of its file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drawn {
    Photo(Picture, u32),
    Video(Picture),
}

/// A file in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SiteFile {
    content_type: &'static str,
    bytes: Bytes,
}

impl Files {
    fn new(site: Site) -> Files {
        Files { site, drawn: Arc::default() }
    }

    /// The current content of a file; `None` if it does not exist.
    async fn file(&self, folder: &str, name: &str) -> Option<SiteFile> {
        match folder {
            FEEDS => {
                let bytes = feeds::file(name, self.site)?.into();
                Some(SiteFile { content_type: "application/xml; charset=utf-8", bytes })
            }
            PHOTOS => {
                let (picture, view) = numbered(name, "jpg")?;
                let bytes = self.drawn(Drawn::Photo(picture, view)).await?;
                Some(SiteFile { content_type: "image/jpeg", bytes })
            }
            VIDEOS => {
                let (picture, _) = numbered(name, "gif").filter(|(_, view)| *view == 0)?;
                let bytes = self.drawn(Drawn::Video(picture)).await?;
                Some(SiteFile { content_type: "image/gif", bytes })
            }
            _ => None,
        }
    }

    /// Draws a picture, unless it is cached.
    async fn drawn(&self, wanted: Drawn) -> Option<Bytes> {
        // The lock is held while drawing, so that only one picture is drawn at a time.
        let mut kept = self.drawn.lock().await;
        if let Some((_, bytes)) = kept.iter().find(|(drawn, _)| *drawn == wanted) {
            return Some(bytes.clone());
        }
        let drawing = tokio::task::spawn_blocking(move || match wanted {
            Drawn::Photo(picture, view) => picture.jpeg(view),
            Drawn::Video(picture) => picture.gif(),
        });
        match drawing.await {
            Ok(Ok(file)) => {
                let bytes = Bytes::from(file);
                kept.truncate(DRAWN_KEPT - 1);
                kept.push_front((wanted, bytes.clone()));
                Some(bytes)
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "a picture of the demo cannot be drawn");
                None
            }
            Err(error) => {
                tracing::error!(%error, "a picture of the demo cannot be drawn");
                None
            }
        }
    }
}

/// Parses a name such as `17.jpg` into the picture and the view.
fn numbered(name: &str, ending: &str) -> Option<(Picture, u32)> {
    let digits = name.strip_suffix(ending)?.strip_suffix('.')?;
    let number: u32 = digits.parse().ok()?;
    // Each number has one name: no sign and no leading zeros.
    Picture::numbered(number).filter(|_| digits == number.to_string())
}

async fn show(State(files): State<Files>, path: Result<Path<(String, String)>, PathRejection>) -> Response {
    let file = match path {
        Ok(Path((folder, name))) => files.file(&folder, &name).await,
        Err(_) => None,
    };
    match file {
        Some(SiteFile { content_type, bytes }) => {
            ([(header::CONTENT_TYPE, content_type)], Body::from(bytes)).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such file\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pictures::{Color, Scene};
    use super::*;

    fn files() -> Files {
        Files::new(Site::at("127.0.0.1:80".parse().unwrap()))
    }

    async fn at(files: &Files, url: &str) -> Option<SiteFile> {
        let path = url.strip_prefix("http://127.0.0.1:80/demo/").unwrap();
        let (folder, name) = path.split_once('/').unwrap();
        files.file(folder, name).await
    }

    #[tokio::test]
    async fn what_it_links_to_is_there_and_what_is_gone_is_not() {
        let files = files();
        let (site, sofa) = (files.site, Picture { scene: Scene::Sofa, color: Color::Red });
        assert_eq!(site.feed("good"), "http://127.0.0.1:80/demo/feeds/good.xml");
        let feed = at(&files, &site.feed("good")).await.unwrap();
        assert_eq!(feed.content_type, "application/xml; charset=utf-8");
        let photo = at(&files, &site.photo(sofa, 1)).await.unwrap();
        assert_eq!((photo.content_type, &photo.bytes[..3]), ("image/jpeg", &[0xff, 0xd8, 0xff][..]));
        assert_eq!(at(&files, &site.video(sofa)).await.unwrap().content_type, "image/gif");
        for gone in [site.photo_gone(), site.video_gone()] {
            assert_eq!(at(&files, &gone).await, None, "{gone}");
        }
    }

    #[tokio::test]
    async fn only_names_of_numbers_in_their_range_are_pictures() {
        for name in
            ["0.jpg.jpg", "00.jpg", "+1.jpg", "-1.jpg", "1.png", "1", ".jpg", "4000000000.jpg", "../1.jpg"]
        {
            assert_eq!(files().file(PHOTOS, name).await, None, "{name}");
        }
        assert_eq!(files().file("others", "0.jpg").await, None);
    }

    #[tokio::test]
    async fn as_many_pictures_are_kept_as_the_limit_says() {
        let files = files();
        for number in 0..DRAWN_KEPT + 3 {
            assert!(files.file(PHOTOS, &format!("{number}.jpg")).await.is_some());
        }
        assert_eq!(files.drawn.lock().await.len(), DRAWN_KEPT);
    }
}
