//! Which hosts of videos are asked, and how.

use url::Url;

/// How a host is asked about a video.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// By its oEmbed endpoint, to which `url=...` is added.
    Oembed(String),
    /// By its page: whether there is one.
    Page,
}

/// A host whose videos can be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoHost {
    /// Its names. Everything below them belongs to it: `youtube.com` means `m.youtube.com` too.
    pub names: Vec<String>,
    /// How it is asked.
    pub ask: Ask,
}

impl VideoHost {
    /// A host of these names that is asked by its oEmbed endpoint.
    #[must_use]
    pub fn oembed(names: &[&str], endpoint: &str) -> Self {
        Self { names: owned(names), ask: Ask::Oembed(endpoint.to_owned()) }
    }

    /// A host of these names that is asked for the page itself.
    #[must_use]
    pub fn page(names: &[&str]) -> Self {
        Self { names: owned(names), ask: Ask::Page }
    }

    /// The hosts that are known by default. VK has no public oEmbed endpoint.
    #[must_use]
    pub fn known() -> Vec<Self> {
        vec![
            Self::oembed(&["youtube.com", "youtu.be"], "https://www.youtube.com/oembed?format=json"),
            Self::oembed(&["vimeo.com"], "https://vimeo.com/api/oembed.json"),
            Self::oembed(&["rutube.ru"], "https://rutube.ru/api/oembed/?format=json"),
            Self::page(&["vk.com", "vkvideo.ru"]),
        ]
    }

    /// Whether a video is of this host.
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
