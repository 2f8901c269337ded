//! URLs that passed every check that needs no network.

use std::net::IpAddr;

use url::{Host, Url};

use crate::error::Cause;
use crate::limits::URL_BYTES_MAX;
use crate::rules::Rules;

#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) host: HostName,
    pub(crate) port: u16,
}

/// An unresolved name, or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostName {
    Name(String),
    Address(IpAddr),
}

impl Target {
    /// Parses an untrusted URL.
    pub(crate) fn parse(text: &str, rules: &Rules) -> Result<Self, Cause> {
        Self::read(text.trim(), None, rules)
    }

    pub(crate) fn follow(&self, place: &str, rules: &Rules) -> Result<Self, Cause> {
        Self::read(place.trim(), Some(&self.url), rules)
    }

    fn read(text: &str, base: Option<&Url>, rules: &Rules) -> Result<Self, Cause> {
        if text.len() > URL_BYTES_MAX {
            return Err(Cause::LongUrl);
        }
        let mut url =
            Url::options().base_url(base).parse(text).map_err(|error| Cause::BadUrl(error.to_string()))?;
        url.set_fragment(None);
        check_scheme(&url, rules)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Cause::UserInfo);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !rules.ports.is_empty() && !rules.ports.contains(&port) {
            return Err(Cause::Port { port, allowed: rules.ports.clone() });
        }
        let host = read_host(&url, text, base.is_some_and(|base| base.host() == url.host()))?;
        let target = Self { url, host, port };
        target.check_host(rules)?;
        Ok(target)
    }

    fn check_host(&self, rules: &Rules) -> Result<(), Cause> {
        let host = self.host_text();
        let is_in = |list: &[String]| list.iter().any(|pattern| is_at_or_below(&host, pattern));
        if is_in(&rules.deny_hosts) || !(rules.allow_hosts.is_empty() || is_in(&rules.allow_hosts)) {
            return Err(Cause::HostDenied(host));
        }
        Ok(())
    }

    /// The host for messages and lists: lower case, no final dot, no brackets.
    pub(crate) fn host_text(&self) -> String {
        match &self.host {
            HostName::Name(name) => name.trim_end_matches('.').to_owned(),
            HostName::Address(address) => address.to_string(),
        }
    }

    pub(crate) fn is_same_origin(&self, other: &Self) -> bool {
        self.url.scheme() == other.url.scheme() && self.host == other.host && self.port == other.port
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

fn check_scheme(url: &Url, rules: &Rules) -> Result<(), Cause> {
    match url.scheme() {
        "https" => Ok(()),
        "http" if !rules.https_only => Ok(()),
        other => {
            let allowed = if rules.https_only { "https" } else { "http or https" };
            Err(Cause::Scheme { scheme: other.to_owned(), allowed })
        }
    }
}

/// The parser turns `http://2130706433/`, `http://0x7f.1/` and `http://0177.0.0.1/` into the
/// address that they mean. Only attackers write addresses like that.
fn read_host(url: &Url, text: &str, is_inherited: bool) -> Result<HostName, Cause> {
    match url.host() {
        Some(Host::Domain(name)) => Ok(HostName::Name(name.to_ascii_lowercase())),
        Some(Host::Ipv4(v4)) if is_inherited || text.contains(&v4.to_string()) => {
            Ok(HostName::Address(v4.into()))
        }
        Some(Host::Ipv4(v4)) => Err(Cause::OddAddress(v4.into())),
        Some(Host::Ipv6(v6)) => Ok(HostName::Address(v6.into())),
        None => Err(Cause::BadUrl("it has no host".to_owned())),
    }
}

/// `img.example.com` is at or below `example.com`; `badexample.com` is not.
fn is_at_or_below(host: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_start_matches("*.").trim_end_matches('.').to_ascii_lowercase();
    host == pattern || host.strip_suffix(&*pattern).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> Cause {
        Target::parse(text, &Rules::default()).map(|target| target.url).unwrap_err()
    }

    #[test]
    fn only_plain_web_addresses_are_taken() {
        for text in
            ["ftp://example.com/a", "file:///etc/passwd", "gopher://example.com/", "data:text/plain,a"]
        {
            assert!(matches!(why(text), Cause::Scheme { .. }), "{text}");
        }
        for text in ["", "photo.jpg", "//example.com/a", "http://", "http://exa mple.com/", "http://[::1/"] {
            assert!(matches!(why(text), Cause::BadUrl(_)), "{text}");
        }
        assert_eq!(why("http://user:pass@example.com/"), Cause::UserInfo);
        assert_eq!(why("http://example.com@10.0.0.1/"), Cause::UserInfo);
        assert!(matches!(why("http://example.com:22/"), Cause::Port { port: 22, .. }));
        assert_eq!(why(&format!("http://example.com/{}", "a".repeat(URL_BYTES_MAX))), Cause::LongUrl);
    }

    #[test]
    fn addresses_in_odd_spellings_are_refused() {
        let odd = [
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://134744072/",
            "http://①②⑦.⓪.⓪.①/",
            "http://127。0。0。1/",
        ];
        for text in odd {
            assert!(matches!(why(text), Cause::OddAddress(_)), "{text}");
        }
        let plain = Target::parse("http://8.8.8.8/a", &Rules::default()).unwrap();
        assert_eq!(plain.host, HostName::Address("8.8.8.8".parse().unwrap()));
        assert!(plain.follow("/b", &Rules::default()).is_ok());
        assert!(plain.follow("http://0x08080808/", &Rules::default()).is_ok(), "the very same host");
        assert!(plain.follow("http://0x7f000001/", &Rules::default()).is_err());
    }

    #[test]
    fn lists_of_hosts_mean_everything_below_too_and_denying_wins() {
        let rules = Rules {
            allow_hosts: vec!["Example.com".to_owned(), "8.8.8.8".to_owned()],
            deny_hosts: vec!["*.evil.example.com".to_owned()],
            ..Rules::default()
        };
        for (url, is_allowed) in [
            ("http://example.com/", true),
            ("http://IMG.example.com./", true),
            ("http://badexample.com/", false),
            ("http://example.com.evil.net/", false),
            ("http://evil.example.com/", false),
            ("http://a.evil.example.com/", false),
            ("http://8.8.8.8/", true),
        ] {
            assert_eq!(Target::parse(url, &rules).is_ok(), is_allowed, "{url}");
        }
    }
}
