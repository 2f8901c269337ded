//! The settings of feeds (`docs/feeds.md`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Error, Url};

/// Feeds: files, topics, limits, and the hosts that may be contacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feeds {
    /// Number of shards of feeds. Each shard is served by one process at a time. Cannot be changed
    /// once the store exists.
    pub shards: u32,
    /// The topic that carries loads to the ad store. Created if missing, like the other topics.
    pub offers_topic: String,
    /// The topic that carries the ad store's results.
    pub results_topic: String,
    /// The topic for messages that cannot be decoded.
    pub dead_letter_topic: String,
    /// Number of partitions of these topics when they are created.
    pub topic_partitions: u32,
    /// The folder for files that are being received. Default: the folder `spool` in `data_dir`.
    /// Complete files are stored at `files.url`.
    pub spool_dir: PathBuf,
    /// Number of loads kept per feed, with their problems and files.
    pub loads_kept: u32,
    /// Batches of one load in flight to the ad store. More are faster for a large seller, fewer are
    /// fairer to the others.
    pub batches_ahead: u32,
    /// The largest file that can be uploaded.
    pub upload_mb_max: u32,
    /// Only these hosts and their subdomains may be contacted. Empty: all hosts.
    pub allow_hosts: Vec<String>,
    /// These hosts and their subdomains are never contacted.
    pub deny_hosts: Vec<String>,
    /// Networks that may be contacted although they are not public: `10.1.0.0/16`.
    pub allow_addresses: Vec<String>,
    /// Allows links to any port, not only to web ports (80, 443, 8080, 8443).
    pub any_port: bool,
    /// The proxy for fetching links; it must support `CONNECT`: `http://user:password@host:port`.
    /// None by default.
    pub proxy_url: Url,
    /// A geocoder with the Nominatim API that resolves the addresses of offers:
    /// `http://nominatim.local:8080`. None by default: cities are resolved without it, streets are
    /// not.
    pub geocoder_url: String,
    /// Minimum time between two requests to the geocoder. The public service requires a second;
    /// your own needs no pause.
    pub geocoder_interval_ms: u32,
    /// The page that explains problem codes; reports link to it. Default: Torg's own page.
    pub errors_url: String,
}

impl Default for Feeds {
    fn default() -> Feeds {
        Feeds {
            shards: 16,
            offers_topic: "feed.offers".to_owned(),
            results_topic: "feed.results".to_owned(),
            dead_letter_topic: "feed.dead".to_owned(),
            topic_partitions: 8,
            spool_dir: PathBuf::from("./data/spool"),
            loads_kept: 20,
            batches_ahead: feeds::limits::BATCHES_AHEAD,
            upload_mb_max: 1024,
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            allow_addresses: Vec::new(),
            any_port: false,
            proxy_url: Url::from(""),
            geocoder_url: String::new(),
            geocoder_interval_ms: 1000,
            errors_url: "/feeds/errors".to_owned(),
        }
    }
}

impl Feeds {
    /// The rules for fetching links.
    pub fn rules(&self) -> Result<fetch::Rules, Error> {
        let usual = fetch::Rules::default();
        let mut allow_addresses = Vec::with_capacity(self.allow_addresses.len());
        for text in &self.allow_addresses {
            let network = text.parse().map_err(|_| Error::Together {
                key: "feeds.allow_addresses",
                why: format!("\"{text}\" is no network such as 10.1.0.0/16").into(),
            })?;
            allow_addresses.push(network);
        }
        Ok(fetch::Rules {
            ports: if self.any_port { Vec::new() } else { usual.ports },
            allow_hosts: self.allow_hosts.clone(),
            deny_hosts: self.deny_hosts.clone(),
            allow_addresses,
            proxy: self.proxy()?,
            ..usual
        })
    }

    fn proxy(&self) -> Result<Option<fetch::Proxy>, Error> {
        let url = self.proxy_url.expose();
        if url.is_empty() {
            return Ok(None);
        }
        read_proxy(url).map(Some).ok_or_else(|| Error::Together {
            key: "feeds.proxy_url",
            why: format!("\"{}\" is not of the form http://user:password@host:port", self.proxy_url).into(),
        })
    }
}

fn read_proxy(url: &str) -> Option<fetch::Proxy> {
    let rest = url.strip_prefix("http://")?.trim_end_matches('/');
    let (auth, place) = rest.rsplit_once('@').map_or((None, rest), |(auth, place)| (Some(auth), place));
    let (host, port) = place.rsplit_once(':')?;
    let auth = auth.map(|auth| {
        let (user, password) = auth.split_once(':').unwrap_or((auth, ""));
        fetch::BasicAuth { user: user.to_owned(), password: password.to_owned() }
    });
    let host = Some(host).filter(|host| !host.is_empty() && !host.contains('/'))?;
    Some(fetch::Proxy { host: host.to_owned(), port: port.parse().ok()?, auth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_a_host_and_a_port_and_perhaps_somebody_to_log_in_as() {
        let proxy = read_proxy("http://ann:s:3@proxy.example:3128/").unwrap();
        let auth = proxy.auth.unwrap();
        assert_eq!((&*proxy.host, proxy.port), ("proxy.example", 3128));
        assert_eq!((&*auth.user, &*auth.password), ("ann", "s:3"));
        assert!(read_proxy("http://10.0.0.1:80").unwrap().auth.is_none());
        for wrong in
            ["proxy:80", "https://proxy:80", "http://proxy", "http://:80", "http://proxy:x", "http://"]
        {
            assert!(read_proxy(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn only_public_addresses_on_ports_of_the_web_are_asked_unless_the_settings_say_otherwise() {
        let usual = Feeds::default().rules().unwrap();
        assert!(usual.allow_addresses.is_empty() && usual.ports.contains(&443) && usual.proxy.is_none());
        let own = vec!["10.1.0.0/16".to_owned(), "::1/128".to_owned()];
        let own = Feeds { any_port: true, allow_addresses: own, ..Feeds::default() }.rules().unwrap();
        assert!(own.ports.is_empty() && own.allow_addresses.len() == 2);
        let wrong = Feeds { allow_addresses: vec!["10.1".to_owned()], ..Feeds::default() };
        assert!(wrong.rules().unwrap_err().to_string().contains("10.1.0.0/16"));
    }
}
