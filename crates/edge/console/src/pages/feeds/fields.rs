//! The fields of the form for a feed.

use buffa_types::google::protobuf::Duration;
use maud::{Markup, html};
use wire::torg::feeds::v1::{Feed, Link};

use super::state::{MISSING, missing_named};
use crate::form::Form;
use crate::language::w;
use crate::services::{Failure, Kind};
use crate::visit::Visit;

/// The default fetch interval in minutes.
const PERIOD_MINUTES: i64 = 240;
/// Defaults of the guard: a load waits for confirmation if it would remove more than this share
const GUARD_PERCENT: f64 = 50.0;
/// of more than this many offers.
const GUARD_LEAST: u32 = 20;

/// All fields, each with its path in the update mask; fields of one path are adjacent.
const PATHS: [(&str, &str); 11] = [
    ("title", "title"),
    ("url", "link"),
    ("user", "link"),
    ("password", "link"),
    ("minutes", "link.period"),
    ("missing", "missing"),
    ("guard_percent", "guard"),
    ("guard_least", "guard"),
    ("currency", "defaults"),
    ("country", "defaults"),
    ("address", "defaults"),
];

pub(super) struct Fields {
    title: String,
    url: String,
    minutes: String,
    user: String,
    missing: &'static str,
    guard_percent: String,
    guard_least: String,
    currency: String,
    country: String,
    address: String,
}

impl Fields {
    /// A password is never shown.
    pub(super) fn of(feed: &Feed) -> Self {
        let link = feed.link.as_option().cloned().unwrap_or_default();
        let minutes = link.period.as_option().map_or(PERIOD_MINUTES, |period| period.seconds / 60);
        let missing = MISSING.iter().find(|(kind, ..)| feed.missing == *kind).unwrap_or(&MISSING[0]).1;
        let guard = feed.guard.as_option();
        let defaults = feed.defaults.as_option().cloned().unwrap_or_default();
        Self {
            title: feed.title.clone(),
            url: link.url,
            minutes: minutes.to_string(),
            user: link.user,
            missing,
            guard_percent: guard.map(|guard| (guard.share * 100.0).round().to_string()).unwrap_or_default(),
            guard_least: guard.map(|guard| guard.least.to_string()).unwrap_or_default(),
            currency: defaults.currency,
            country: defaults.country,
            address: defaults.place.into_option().unwrap_or_default().address,
        }
    }

    fn text(&self, name: &str) -> &str {
        match name {
            "title" => &self.title,
            "url" => &self.url,
            "minutes" => &self.minutes,
            "user" => &self.user,
            "missing" => self.missing,
            "guard_percent" => &self.guard_percent,
            "guard_least" => &self.guard_least,
            "currency" => &self.currency,
            "country" => &self.country,
            "address" => &self.address,
            _ => "",
        }
    }

    /// Hidden fields with the values as the form was shown.
    pub(super) fn before(&self) -> Markup {
        html! {
            @for (name, _) in PATHS { input type="hidden" name={ "before-" (name) } value=(self.text(name)); }
        }
    }
}

/// The mask of the fields that the form changes. Changes that others made since it was shown are
/// kept.
pub(super) fn changed(form: &Form) -> Vec<&'static str> {
    let is_changed = |name: &str| form.text(name) != form.text(&format!("before-{name}"));
    let mut paths: Vec<&str> =
        PATHS.iter().filter(|(name, _)| is_changed(name)).map(|(_, path)| *path).collect();
    paths.dedup();
    paths
}

/// `prefix` keeps ids unique on the page.
pub(super) fn fields(visit: &Visit, prefix: &str, now: &Fields) -> Markup {
    let id = |name: &str| format!("{prefix}-{name}");
    html! {
        label for=(id("title")) { (visit.t("Title, for people")) input id=(id("title")) name="title" value=(now.title) maxlength="200"; }
        label for=(id("url")) {
            (visit.t("Link; empty if files are uploaded"))
            input id=(id("url")) name="url" type="url" value=(now.url) maxlength="2048" placeholder="https://";
        }
        label for=(id("minutes")) {
            (visit.t("Fetch interval, minutes"))
            input id=(id("minutes")) name="minutes" type="number" min="15" max="43200" value=(now.minutes);
        }
        label for=(id("user")) {
            (visit.t("User name, if the link needs one"))
            input id=(id("user")) name="user" value=(now.user) maxlength="256" autocomplete="off";
        }
        label for=(id("password")) {
            (visit.t("Password; empty: unchanged"))
            input id=(id("password")) name="password" type="password" maxlength="256" autocomplete="new-password"
                aria-describedby=(id("password-hint"));
        }
        p.hint id=(id("password-hint")) { (visit.t("If the link changes to another server, enter the password again.")) }
        label for=(id("missing")) {
            (visit.t("Offers that are no longer in the file"))
            select id=(id("missing")) name="missing" {
                @for (_, name, text) in MISSING { option value=(name) selected[name == now.missing] { (visit.t(text)) } }
            }
        }
        (guard(visit, prefix, now))
        (defaults(visit, prefix, now))
    }
}

fn guard(visit: &Visit, prefix: &str, now: &Fields) -> Markup {
    let id = |name: &str| format!("{prefix}-{name}");
    html! {
        p.hint { (visit.t("A load waits for confirmation if it would remove more than this percentage of the feed's offers (50 if empty) and the feed has more than this many offers (20 if empty).")) }
        div.line {
            label for=(id("guard_percent")) {
                (visit.t("Percent"))
                input id=(id("guard_percent")) name="guard_percent" type="number" min="0" max="100" value=(now.guard_percent);
            }
            label for=(id("guard_least")) {
                (visit.t("Offers"))
                input id=(id("guard_least")) name="guard_least" type="number" min="0" value=(now.guard_least);
            }
        }
    }
}

fn defaults(visit: &Visit, prefix: &str, now: &Fields) -> Markup {
    let id = |name: &str| format!("{prefix}-{name}");
    html! {
        p.hint { (visit.t("Defaults for offers that do not set these:")) }
        div.line {
            label for=(id("currency")) {
                (visit.t("Currency"))
                input id=(id("currency")) name="currency" value=(now.currency) maxlength="3" size="4" pattern="[A-Za-z]{3}";
            }
            label for=(id("country")) {
                (visit.t("Country, two letters"))
                input id=(id("country")) name="country" value=(now.country) maxlength="2" size="3" pattern="[A-Za-z]{2}";
            }
            label for=(id("address")) { (visit.t("Address")) input id=(id("address")) name="address" value=(now.address) maxlength="500"; }
        }
    }
}

/// Applies the form to a feed; what has no field stays.
pub(super) fn read(visit: &Visit, form: &Form, mut feed: Feed) -> Result<Feed, Failure> {
    let url = form.text("url");
    let minutes = form.number::<i64>("minutes", w("Fetch interval, minutes"))?;
    let minutes = Some(minutes).filter(|minutes| *minutes != 0);
    let seconds = minutes.unwrap_or(PERIOD_MINUTES).saturating_mul(60);
    let link = (!url.is_empty()).then(|| Link {
        url: url.to_owned(),
        period: Some(Duration { seconds, ..Default::default() }).into(),
        user: form.text("user").to_owned(),
        password: form.text("password").to_owned(),
        ..Default::default()
    });
    let missing = missing_named(form.text("missing"))
        .ok_or_else(|| Failure::new(Kind::Refused, visit.t("There is no such choice.")))?;
    form.text("title").clone_into(&mut feed.title);
    feed.link = link.into();
    feed.missing = missing.into();
    if form.text("guard_percent").is_empty() && form.text("guard_least").is_empty() {
        feed.guard = None.into();
    } else {
        let guard = feed.guard.get_or_insert_default();
        let percent: Option<f64> = form.optional_number("guard_percent", w("Percent"))?;
        guard.share = percent.unwrap_or(GUARD_PERCENT) / 100.0;
        guard.least = form.optional_number("guard_least", w("Offers"))?.unwrap_or(GUARD_LEAST);
    }
    let said = ["currency", "country", "address"].map(|name| form.text(name));
    if feed.defaults.is_set() || said.iter().any(|text| !text.is_empty()) {
        let defaults = feed.defaults.get_or_insert_default();
        defaults.currency = said[0].to_uppercase();
        defaults.country = said[1].to_uppercase();
        let before = defaults.place.as_option().map(|place| place.address.clone()).unwrap_or_default();
        // Coordinates found by the geocoder belong to the address they were found for.
        if before != said[2] {
            let place = wire::torg::offers::v1::Place { address: said[2].to_owned(), ..Default::default() };
            defaults.place = (!said[2].is_empty()).then_some(place).into();
        }
    }
    Ok(feed)
}
