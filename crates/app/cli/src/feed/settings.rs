//! Feed settings from the command line, and the field mask of those that were given.

use std::time::Duration;

use buffa_types::google::protobuf::{Duration as WireDuration, FieldMask};
use clap::{Args, ValueEnum};
use wire::torg::feeds::v1::{Defaults, Feed, Link, Missing};
use wire::torg::offers::v1::{Contacts, Place};

use node::config::Secret;

/// What a feed is like. What is left out stays as it is, or is as usual.
#[derive(Debug, Args)]
pub(crate) struct FeedSettings {
    /// What people call it.
    #[arg(long)]
    title: Option<String>,
    /// Where it is fetched from; without a link, files are uploaded.
    #[arg(long, value_name = "URL")]
    link: Option<String>,
    /// How often it is fetched: 30m, 4h, 1d.
    #[arg(long, value_name = "TIME", value_parser = period)]
    every: Option<Duration>,
    /// The user, if the link asks for one.
    #[arg(long, value_name = "NAME", requires = "link")]
    user: Option<String>,
    /// The password, if the link asks for one. Others on this machine can see arguments: rather set
    /// the variable.
    #[arg(long, value_name = "WORD", env = "TORG_FEED_PASSWORD", hide_env_values = true)]
    password: Option<Secret>,
    /// What becomes of offers that the file does not have any more.
    #[arg(long, value_enum)]
    missing: Option<Fate>,
    /// A load waits for `torg feed confirm` if it would remove more than this share of the offers,
    /// from 0 to 1.
    #[arg(long, value_name = "SHARE")]
    guard_share: Option<f64>,
    /// ... and if the feed has more offers than this.
    #[arg(long, value_name = "N")]
    guard_least: Option<u32>,
    /// The currency of prices that name none.
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// The country in which places are looked for first, two letters.
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Where offers are that do not say so.
    #[arg(long, value_name = "TEXT")]
    address: Option<String>,
    /// Whom to call about offers that do not say so.
    #[arg(long, value_name = "NUMBER")]
    phone: Vec<String>,
}

/// What becomes of offers.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Fate {
    /// They are removed.
    Remove,
    /// They stay, as if somebody had typed them in.
    Manual,
    /// They stay as they are.
    Keep,
}

impl From<Fate> for Missing {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Remove => Self::MISSING_REMOVE,
            Fate::Manual => Self::MISSING_MAKE_MANUAL,
            Fate::Keep => Self::MISSING_KEEP,
        }
    }
}

/// Parses `90s`, `30m`, `4h` or `1d`.
fn period(text: &str) -> Result<Duration, String> {
    let wrong = || "a number with s, m, h or d is expected: 4h".to_owned();
    let (unit_at, unit) = text.char_indices().next_back().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..unit_at].parse().map_err(|_| wrong())?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

impl FeedSettings {
    /// Applies the given settings to `feed`. Returns the feed and the mask of changed fields.
    pub(super) fn applied_to(&self, mut feed: Feed) -> (Feed, FieldMask) {
        let mut paths: Vec<&str> = Vec::new();
        if let Some(title) = &self.title {
            feed.title.clone_from(title);
            paths.push("title");
        }
        self.apply_link(&mut feed, &mut paths);
        if let Some(fate) = self.missing {
            feed.missing = Missing::from(fate).into();
            paths.push("missing");
        }
        if self.guard_share.is_some() || self.guard_least.is_some() {
            let guard = feed.guard.get_or_insert_default();
            set(&mut guard.share, self.guard_share.as_ref());
            set(&mut guard.least, self.guard_least.as_ref());
            paths.push("guard");
        }
        self.apply_defaults(&mut feed, &mut paths);
        (feed, FieldMask { paths: paths.into_iter().map(str::to_owned).collect(), ..FieldMask::default() })
    }

    fn apply_link(&self, feed: &mut Feed, paths: &mut Vec<&str>) {
        if let Some(url) = &self.link {
            // A new address resets the credentials and keeps the period.
            let period = feed.link.as_option().and_then(|link| link.period.as_option().cloned());
            let password = self.password.as_ref().map(|word| word.expose().to_owned()).unwrap_or_default();
            let user = self.user.clone().unwrap_or_default();
            let link = Link { url: url.clone(), user, password, period: period.into(), ..Link::default() };
            feed.link = Some(link).into();
            paths.push("link");
        }
        if let Some(every) = self.every {
            let seconds = i64::try_from(every.as_secs()).unwrap_or(i64::MAX);
            let period = WireDuration { seconds, ..WireDuration::default() };
            feed.link.get_or_insert_default().period = Some(period).into();
            paths.push("link.period");
        }
    }

    fn apply_defaults(&self, feed: &mut Feed, paths: &mut Vec<&str>) {
        let Self { currency, country, address, phone, .. } = self;
        if currency.is_none() && country.is_none() && address.is_none() && phone.is_empty() {
            return;
        }
        let defaults: &mut Defaults = feed.defaults.get_or_insert_default();
        set(&mut defaults.currency, currency.as_ref().map(|code| code.to_uppercase()).as_ref());
        set(&mut defaults.country, country.as_ref().map(|code| code.to_uppercase()).as_ref());
        if let Some(address) = address {
            defaults.place = Some(Place { address: address.clone(), ..Place::default() }).into();
        }
        if !phone.is_empty() {
            let contacts: &mut Contacts = defaults.contacts.get_or_insert_default();
            contacts.phones.clone_from(phone);
        }
        paths.push("defaults");
    }
}

fn set<T: Clone>(place: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        place.clone_from(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use wire::torg::feeds::v1::Guard;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: FeedSettings,
    }

    fn applied(arguments: &[&str]) -> (Feed, Vec<String>) {
        let line = Line::try_parse_from([&["torg"], arguments].concat()).unwrap();
        let known = Guard { share: 0.5, least: 20, ..Guard::default() };
        let feed = Feed { guard: Some(known).into(), ..Feed::default() };
        let (feed, mask) = line.settings.applied_to(feed);
        (feed, mask.paths)
    }

    #[test]
    fn only_what_is_named_is_changed() {
        let (feed, paths) = applied(&["--guard-share", "0.9", "--every", "4h", "--currency", "eur"]);
        assert_eq!(paths, ["link.period", "guard", "defaults"]);
        let guard = feed.guard.as_option().unwrap();
        assert_eq!((guard.share, guard.least), (0.9, 20));
        assert_eq!(feed.link.as_option().unwrap().period.as_option().unwrap().seconds, 4 * 3_600);
        assert_eq!(feed.defaults.as_option().unwrap().currency, "EUR");
        assert_eq!(applied(&[]).1, Vec::<String>::new());
    }

    #[test]
    fn periods_have_a_unit() {
        assert_eq!(period("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(period("1d"), Ok(Duration::from_secs(86_400)));
        for wrong in ["", "4", "h", "4 h", "-1h", "9999999999999999999d", "4ч"] {
            assert!(period(wrong).is_err(), "{wrong}");
        }
    }
}
