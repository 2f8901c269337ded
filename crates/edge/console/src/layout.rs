//! The frame of every page: head, menu, notices; and pages for visitors who are not admitted.

use access::{Action, Code, Denial};
use axum::response::Response;
use http::{HeaderValue, StatusCode, Uri, header};
use maud::{DOCTYPE, Markup, html};

use crate::answer::{html as answer, see};
use crate::assets;
use crate::language::w;
use crate::limits::{OVERVIEW_REFRESH_INTERVAL, REFRESH_INTERVAL};
use crate::visit::{Preferences, Theme, Visit};

/// The entry of the menu that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Stages,
    Offers,
    Sellers,
    Feeds,
    Tasks,
    Values,
    Topics,
    Cluster,
    Actions,
    /// A page outside the menu.
    Other,
}

/// An entry of the menu: its address, its text, the action that a caller must be allowed, and
/// whether sellers see it.
struct Line(Section, &'static str, &'static str, Action, bool);

const MENU: [Line; 10] = [
    Line(Section::Overview, "/console/", w("Overview"), Action::SeeProcess, false),
    Line(Section::Stages, "/console/stages", w("Stages"), Action::SeeProcess, false),
    Line(Section::Offers, "/console/offers", w("Offers"), Action::ReadAny, true),
    Line(Section::Sellers, "/console/sellers", w("Sellers"), Action::ReadAny, true),
    Line(Section::Feeds, "/console/feeds", w("Feeds"), Action::ReadAny, true),
    Line(Section::Tasks, "/console/tasks", w("Tasks"), Action::SeeProcess, false),
    Line(Section::Values, "/console/values", w("Values"), Action::SeeProcess, false),
    Line(Section::Topics, "/console/topics", w("Topics"), Action::UseTopics, false),
    Line(Section::Cluster, "/console/cluster", w("Cluster"), Action::SeeProcess, false),
    Line(Section::Actions, "/console/actions", w("Actions"), Action::SeeProcess, false),
];

fn is_open(visit: &Visit, line: &Line) -> bool {
    visit.caller().may(line.3) || line.4 && visit.own_seller().is_some()
}

/// The first page of the caller's menu.
pub(crate) fn first_page(visit: &Visit) -> &'static str {
    MENU.iter().find(|line| is_open(visit, line)).map_or("/console/offers", |line| line.1)
}

/// A whole page, or only its middle for a refresh by the script.
pub(crate) fn page(visit: &Visit, section: Section, title: &str, body: &Markup) -> Markup {
    if visit.preferences().live {
        return middle(visit, title, body);
    }
    let preferences = visit.preferences();
    document(
        preferences,
        title,
        &html! {
            a.skip href="#main" { (visit.t("Skip to content")) }
            header.top {
                a.brand href=(first_page(visit)) { (assets::logo()) span { "Torg" } }
                form.find role="search" action="/console/find" method="get" {
                    label.hidden for="find" { (visit.t("Find an offer, a seller or a stage")) }
                    input #find type="search" name="q" maxlength="200" autocomplete="off"
                        aria-keyshortcuts="/" placeholder=(search_hint(visit));
                }
                (person(visit))
            }
            nav.menu aria-label=(visit.t("Pages")) {
                ul {
                    @for line in MENU.iter().filter(|line| is_open(visit, line)) {
                        li { a href=(line.1) aria-current=[(line.0 == section).then_some("page")] { (visit.t(line.2)) } }
                    }
                }
            }
            div #lost.lost role="alert" hidden { (visit.t("Torg does not answer. This page is out of date and refreshes by itself.")) }
            div #stale.lost role="alert" hidden { (visit.t("This page cannot be refreshed now. It is out of date and retries by itself.")) }
            div #changed.lost role="alert" hidden { (visit.t("This page has changed. Reload it when you are done with your input.")) }
            div #out.lost role="alert" hidden {
                (visit.t("Your session has ended.")) " "
                a href="/console/sign-in" target="_blank" { (visit.t("Sign in in another tab")) }
                (visit.t(", then continue here: your input stays."))
            }
            main #main tabindex="-1" data-every=[(visit.is_read() && is_live(body)).then(|| every(section))] { (middle(visit, title, body)) }
        },
    )
}

fn search_hint(visit: &Visit) -> &'static str {
    let text = if visit.caller().may(Action::ReadAny) {
        w("Id, seller, seller/id in a feed")
    } else {
        w("Id of an offer, or its id in the feed")
    };
    visit.t(text)
}

/// Whether the page has parts that the script refreshes.
fn is_live(body: &Markup) -> bool {
    body.0.contains("data-live")
}

/// The refresh interval in milliseconds.
fn every(section: Section) -> u128 {
    let every = if section == Section::Overview { OVERVIEW_REFRESH_INTERVAL } else { REFRESH_INTERVAL };
    every.as_millis()
}

fn middle(visit: &Visit, title: &str, body: &Markup) -> Markup {
    html! {
        h1 { (title) }
        div data-live #unchecked data-who=(visit.mark()) {
            // Every page has a token, even without forms: the script reads it here for the forms of
            // the head.
            (crate::view::token(visit))
            @if visit.is_unchecked() {
                p.notice.bad role="alert" {
                    (visit.t("The store does not answer, so your key cannot be checked. You can look, but nothing can be changed."))
                }
            }
        }
        @if let Some(notice) = visit.notice() {
            p.notice.(notice.tone.class()) role="status" { (notice.text) }
        }
        (body)
    }
}

fn person(visit: &Visit) -> Markup {
    let caller = visit.caller();
    let roles: Vec<&str> = caller.roles.iter().map(|role| visit.t(role_name(role))).collect();
    let other = visit.language().other();
    let theme = visit.preferences().theme;
    html! {
        details.person {
            summary { span.who { (visit.name()) } }
            div.sheet {
                p { strong { (visit.name()) } br; (roles.join(", ")) }
                form method="post" action="/console/look" {
                    (crate::view::token(visit))
                    input type="hidden" name="back" value=(visit.here());
                    button name="language" value=(other.code()) lang=(other.code()) { (other.name()) }
                    @for (other, text) in [(Theme::Light, w("Light theme")), (Theme::Dark, w("Dark theme")), (Theme::System, w("System theme"))] {
                        @if other != theme { button name="theme" value=(other.name()) { (visit.t(text)) } }
                    }
                }
                form method="post" action="/console/sign-out" {
                    (crate::view::token(visit))
                    button { (if visit.is_choice() { visit.t("Switch role") } else { visit.t("Sign out") }) }
                }
            }
        }
    }
}

pub(crate) fn role_name(role: access::Role) -> &'static str {
    use access::Role;
    match role {
        Role::Seller => w("seller"),
        Role::Support => w("support"),
        Role::Moderator => w("moderator"),
        Role::Service => w("service"),
        Role::Admin => w("admin"),
    }
}

pub(crate) fn document(preferences: Preferences, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(preferences.language.code()) data-theme=(preferences.theme.name()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Torg" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("console.css"));
                script src=(assets::path("console.js")) defer {}
            }
            body { (body) }
        }
    }
}

/// A page with one message, for visitors who are not admitted.
fn alone(
    preferences: Preferences,
    status: StatusCode,
    title: &'static str,
    text: &'static str,
    again: bool,
) -> Response {
    let t = |text| preferences.language.t(text);
    let page = document(
        preferences,
        t(title),
        &html! {
            main #main.alone data-every=[again.then(|| REFRESH_INTERVAL.as_millis())] {
                h1 { (t(title)) }
                p { (t(text)) }
            }
        },
    );
    let mut given = answer(status, page);
    if again {
        given.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    }
    crate::answer::secured(given)
}

/// The store is not open yet.
pub(crate) fn starting(preferences: Preferences) -> Response {
    let text = w("Torg is starting and opens its store. This page reloads by itself.");
    alone(preferences, StatusCode::SERVICE_UNAVAILABLE, w("Starting"), text, true)
}

/// Too many sign-ins at once.
pub(crate) fn busy(preferences: Preferences) -> Response {
    let text = w("Too many requests came from you, or to Torg as a whole. Wait a moment.");
    alone(preferences, StatusCode::SERVICE_UNAVAILABLE, w("Too many requests"), text, false)
}

/// Redirects to the sign-in page, which leads back to the wanted page.
pub(crate) fn sign_in_first(preferences: Preferences, wanted: &Uri) -> Response {
    if preferences.live {
        let text = w("Your session has ended.");
        return alone(preferences, StatusCode::UNAUTHORIZED, w("Sign in"), text, false);
    }
    let next = wanted.path_and_query().map_or("/console/", http::uri::PathAndQuery::as_str);
    let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    crate::answer::secured(see(&format!("/console/sign-in?next={next}")))
}

/// The gate refuses the caller, or cannot judge now.
pub(crate) fn denied(preferences: Preferences, denial: &Denial) -> Response {
    let (title, text) = match denial.code {
        Code::Unavailable => (
            w("Torg cannot check who you are"),
            w("The store does not answer, so keys cannot be checked. This page reloads as soon as it does."),
        ),
        Code::ResourceExhausted | Code::TooLarge => (
            w("Too many requests"),
            w("Too many requests came from you, or to Torg as a whole. Wait a moment."),
        ),
        _ => (
            w("Not allowed from here"),
            w(
                "Access control is off, so Torg serves this machine only. Open it as localhost, or turn access control on.",
            ),
        ),
    };
    alone(preferences, denial.code.status(), title, text, true)
}
