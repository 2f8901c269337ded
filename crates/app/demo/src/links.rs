//! Creates the feeds of the demo's sellers, and exempts the demo's own address from the rules
//! against links to private addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ::feeds::{Error, Feeds};
use anyhow::Context as _;
use async_trait::async_trait;
use feeds::FeedName;
use fetch::{Client, Internet, Network, Pipe, Rules};
use stages::{VideoConfig, VideoHost};
use wire::torg::feeds::v1::{Defaults, Feed, Link};
use wire::torg::offers::v1::Place;

use super::limits::PAST;
use super::site::Site;
use super::{feeds as files, sellers};

/// A feed without a link, for uploads by users of the demo, and its seller.
pub(super) const OWN_NAMESPACE: &str = "own";
pub(super) const OWN_SELLER: &str = "anna-k";

/// The address at which this process reaches itself.
pub fn own_address(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// A client that may fetch from the demo's own address, in addition to what the rules allow.
pub(super) fn client(mut rules: Rules, own: SocketAddr) -> Client {
    rules.allow_addresses.push(own.ip().into());
    if !rules.ports.is_empty() && !rules.ports.contains(&own.port()) {
        rules.ports.push(own.port());
    }
    if !rules.allow_hosts.is_empty() {
        rules.allow_hosts.push(own.ip().to_string());
    }
    Client::over(Arc::new(OwnPortOnly { own }), rules)
}

/// Video settings that also accept the demo's own host. Videos are not checked again before the
/// past is created: during that time the clock moves by days, and a stage must not ask for a visit
/// at a time that is already past.
pub(super) fn videos(own: SocketAddr) -> VideoConfig {
    let name = match own.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let mut hosts = VideoHost::known();
    hosts.push(VideoHost::page(&[&name]));
    VideoConfig { hosts, check_again: PAST, check_missing: PAST }
}

/// Allows public addresses and this process's own address and port. Other ports of the own address
/// stay blocked.
struct OwnPortOnly {
    own: SocketAddr,
}

#[async_trait]
impl Network for OwnPortOnly {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Internet.resolve(name).await
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Pipe>> {
        if address.ip() == self.own.ip() && address.port() != self.own.port() {
            let text = "a demo asks no other port of its own machine";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        Internet.connect(address).await
    }
}

pub(super) fn changing() -> FeedName {
    FeedName { seller: sellers::GOOD.to_owned(), namespace: files::CHANGING.to_owned() }
}

/// Creates missing feeds, and updates the links of existing ones to the current address.
pub(super) async fn make_feeds(feeds: &Feeds, site: Site) -> anyhow::Result<()> {
    let of = |seller: &str, namespace: &str, title: &str, city: &str| Feed {
        seller: seller.to_owned(),
        namespace: namespace.to_owned(),
        title: title.to_owned(),
        defaults: Some(Defaults {
            currency: "RUB".to_owned(),
            country: "RU".to_owned(),
            place: Some(Place { address: city.to_owned(), ..Place::default() }).into(),
            ..Defaults::default()
        })
        .into(),
        ..Feed::default()
    };
    for (seller, namespace, title, city) in [
        (sellers::GOOD, files::GOOD, "Мебель", "Москва"),
        (sellers::GOOD, files::CHANGING, "Мебель со скидкой", "Москва"),
        (sellers::MISTAKES, files::MISTAKES, "Электроника", "Санкт-Петербург"),
    ] {
        let link = Link { url: site.feed(namespace), ..Link::default() };
        let feed = Feed { link: Some(link).into(), ..of(seller, namespace, title, city) };
        make(feeds, feed).await.with_context(|| format!("the feed {namespace}"))?;
    }
    make(feeds, of(OWN_SELLER, OWN_NAMESPACE, "Your own", "Москва")).await.context("the feed for uploads")
}

async fn make(feeds: &Feeds, feed: Feed) -> anyhow::Result<()> {
    let name = FeedName { seller: feed.seller.clone(), namespace: feed.namespace.clone() };
    let url = |feed: &Feed| feed.link.as_option().map(|link| link.url.clone());
    let wanted = url(&feed);
    match feeds.create(feed).await {
        Ok(_) => return Ok(()),
        Err(Error::Exists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    // The port has changed since the last start. Other changes of the feed stay.
    if let Some(wanted) = wanted
        && url(&feeds.get(&name).await?).as_ref() != Some(&wanted)
    {
        feeds
            .update(&name, None, |feed| {
                if let Some(link) = feed.link.as_option_mut() {
                    link.url.clone_from(&wanted);
                }
                Ok(())
            })
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_its_own_machine_a_demo_asks_its_own_port_only() {
        let mut ports = Vec::new();
        for _ in 0..2 {
            ports.push(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap());
        }
        let [own, other] = [0, 1].map(|place: usize| ports[place].local_addr().unwrap());
        let network = OwnPortOnly { own };
        assert!(network.connect(own).await.is_ok());
        let refused = network.connect(other).await.err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_process_that_listens_everywhere_reaches_itself_on_loopback() {
        let own = |address: &str| own_address(address.parse().unwrap()).to_string();
        assert_eq!(own("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(own("[::]:8080"), "[::1]:8080");
        assert_eq!(own("127.0.0.1:90"), "127.0.0.1:90");
    }
}
