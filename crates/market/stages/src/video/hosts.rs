//! Hosts of videos and their protocols.

use url::Url;

/// The protocol of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// An oEmbed endpoint, to which `url=...` is added.
    Oembed(String),
    /// The existence of the page.
    Page,
}

/// A host of videos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoHost {
    /// Names with all their subdomains: `youtube.com` includes `m.youtube.com`.
    pub names: Vec<String>,
    pub ask: Ask,
}

impl VideoHost {
    /// A host with an oEmbed endpoint.
    #[must_use]
    pub fn oembed(names: &[&str], endpoint: &str) -> Self {
        Self { names: owned(names), ask: Ask::Oembed(endpoint.to_owned()) }
    }

    /// A host whose pages are requested.
    #[must_use]
    pub fn page(names: &[&str]) -> Self {
        Self { names: owned(names), ask: Ask::Page }
    }

    /// The default hosts. VK has no public oEmbed endpoint.
    #[must_use]
    pub fn known() -> Vec<Self> {
        vec![
            Self::oembed(&["youtube.com", "youtu.be"], "https://www.youtube.com/oembed?format=json"),
            Self::oembed(&["vimeo.com"], "https://vimeo.com/api/oembed.json"),
            Self::oembed(&["rutube.ru"], "https://rutube.ru/api/oembed/?format=json"),
            Self::page(&["vk.com", "vkvideo.ru"]),
        ]
    }

    pub(super) fn has(&self, video: &Url) -> bool {
        let is_web = matches!(video.scheme(), "http" | "https");
        let host = video.host_str().filter(|_| is_web).unwrap_or_default().trim_end_matches('.');
        let is_below =
            |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        self.names.iter().any(|name| is_below(name))
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_what_is_below_it_and_nothing_else() {
        let host = VideoHost::page(&["vk.com", "vkvideo.ru"]);
        for url in ["https://vk.com/video1", "http://m.VK.com/video1", "https://vkvideo.ru./x"] {
            assert!(host.has(&Url::parse(url).unwrap()), "{url}");
        }
        for url in [
            "https://notvk.com/",
            "https://vk.com.example.org/",
            "ftp://vk.com/",
            "mailto:vk.com",
            "https://com/",
        ] {
            assert!(!host.has(&Url::parse(url).unwrap()), "{url}");
        }
    }
}
