//! Addresses of what the demo serves as sellers' sites do: feeds, photos and videos, all under
//! [`PATH`].

use std::net::SocketAddr;

use super::pictures::Picture;

/// The path of everything that is served.
pub(crate) const PATH: &str = "/demo/";
/// Its folders.
pub(super) const FEEDS: &str = "feeds";
pub(super) const PHOTOS: &str = "photos";
pub(super) const VIDEOS: &str = "videos";
/// The name of a photo, and of a video, that its seller has deleted.
const GONE: &str = "gone";

/// The addresses of the demo's own site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    own: SocketAddr,
}

impl Site {
    /// The site of the process that reaches itself there.
    pub(crate) fn at(own: SocketAddr) -> Site {
        Site { own }
    }

    pub(super) fn own(self) -> SocketAddr {
        self.own
    }

    /// The address of a feed.
    pub(super) fn feed(self, name: &str) -> String {
        self.url(FEEDS, &format!("{name}.xml"))
    }

    /// The address of a photo.
    pub(super) fn photo(self, picture: Picture, view: u32) -> String {
        self.url(PHOTOS, &format!("{}.jpg", picture.number(view)))
    }

    /// The address of a film of something.
    pub(super) fn video(self, picture: Picture) -> String {
        self.url(VIDEOS, &format!("{}.gif", picture.number(0)))
    }

    /// An address where there is no photo.
    pub(super) fn photo_gone(self) -> String {
        self.url(PHOTOS, &format!("{GONE}.jpg"))
    }

    /// An address where there is no video.
    pub(super) fn video_gone(self) -> String {
        self.url(VIDEOS, &format!("{GONE}.gif"))
    }

    fn url(self, folder: &str, file: &str) -> String {
        format!("http://{}{PATH}{folder}/{file}", self.own)
    }
}
