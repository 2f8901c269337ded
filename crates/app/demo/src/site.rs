//! Addresses of the feeds, photos and videos that the demo serves, all under [`PATH`].

use std::net::SocketAddr;

use super::pictures::Picture;

pub(crate) const PATH: &str = "/demo/";
/// Folders below [`PATH`].
pub(super) const FEEDS: &str = "feeds";
pub(super) const PHOTOS: &str = "photos";
pub(super) const VIDEOS: &str = "videos";
/// The name of a deleted photo or video.
const GONE: &str = "gone";

/// The base address of the demo's own site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    own: SocketAddr,
}

impl Site {
    /// The site of the process with this address.
    pub(crate) fn at(own: SocketAddr) -> Site {
        Site { own }
    }

    pub(super) fn own(self) -> SocketAddr {
        self.own
    }

    pub(super) fn feed(self, name: &str) -> String {
        self.url(FEEDS, &format!("{name}.xml"))
    }

    pub(super) fn photo(self, picture: Picture, view: u32) -> String {
        self.url(PHOTOS, &format!("{}.jpg", picture.number(view)))
    }

    pub(super) fn video(self, picture: Picture) -> String {
        self.url(VIDEOS, &format!("{}.gif", picture.number(0)))
    }

    /// An address without a photo.
    pub(super) fn photo_gone(self) -> String {
        self.url(PHOTOS, &format!("{GONE}.jpg"))
    }

    /// An address without a video.
    pub(super) fn video_gone(self) -> String {
        self.url(VIDEOS, &format!("{GONE}.gif"))
    }

    fn url(self, folder: &str, file: &str) -> String {
        format!("http://{}{PATH}{folder}/{file}", self.own)
    }
}
