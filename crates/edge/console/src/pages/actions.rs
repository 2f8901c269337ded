//! What people and programs did that changes how Torg works.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::admin::v1::{Action, ListActionsRequest, ListActionsResponse};

use crate::address::Query;
use crate::layout::Place;
use crate::routes::Console;
use crate::services::Failure;
use crate::services::methods::LIST_ACTIONS;
use crate::view::{Tone, ago, cut, empty, moment, pager, path, query, state, table};
use crate::visit::Visit;

const SHOWN: u32 = 50;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/actions", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    about: String,
    author: String,
    /// `on` for those alone that failed or were refused.
    failed: String,
    page: String,
}

impl Asked {
    /// What an address needs to ask the same.
    fn pairs(&self) -> [(&str, &str); 3] {
        [("about", self.about.trim()), ("author", self.author.trim()), ("failed", &self.failed)]
    }
}

async fn show(visit: Visit, Query(asked): Query<Asked>) -> Response {
    let body = list(&visit, &asked).await;
    visit.page(Place::Actions, visit.t("Actions"), body)
}

async fn list(visit: &Visit, asked: &Asked) -> Result<Markup, Failure> {
    let request = ListActionsRequest {
        about: asked.about.trim().to_owned(),
        author: asked.author.trim().to_owned(),
        failed: !asked.failed.is_empty(),
        page_size: SHOWN,
        page_token: asked.page.clone(),
        ..ListActionsRequest::default()
    };
    let answer = visit.call(LIST_ACTIONS, &request).await?;
    Ok(html! {
        p { (visit.t("Everything that somebody did that changes how Torg works, with their name: also what was refused.")) }
        form.inline method="get" action="/console/actions" {
            label for="about" { (visit.t("About")) input #about name="about" value=(asked.about) maxlength="300"; }
            label for="author" { (visit.t("Who")) input #author name="author" value=(asked.author) maxlength="300"; }
            label.box for="failed" { input #failed type="checkbox" name="failed" value="on" checked[!asked.failed.is_empty()]; " " (visit.t("Only what failed or was refused")) }
            button { (visit.t("Show")) }
        }
        div data-live #actions { (rows(visit, asked, &answer)) }
        (pager(visit, "/console/actions", &asked.pairs(), &asked.page, &answer.next_page_token))
    })
}

fn rows(visit: &Visit, asked: &Asked, answer: &ListActionsResponse) -> Markup {
    // Only so many actions are looked at for one page.
    if answer.actions.is_empty() && !answer.next_page_token.is_empty() {
        return empty(
            visit.t("None of the actions looked at so far; there are more to look at: go further."),
        );
    }
    if answer.actions.is_empty() && asked.pairs().iter().any(|(_, value)| !value.is_empty()) {
        return empty(visit.t("No action is so."));
    }
    if answer.actions.is_empty() {
        return empty(visit.t("Nobody did anything of the kind yet."));
    }
    table(
        visit.t("Actions"),
        &head(visit),
        &html! { @for action in &answer.actions { (row(visit, action)) } },
    )
}

/// The columns of a table of actions.
pub(super) fn head(visit: &Visit) -> Markup {
    html! {
        th scope="col" { (visit.t("When")) }
        th scope="col" { (visit.t("Who")) }
        th scope="col" { (visit.t("What")) }
        th scope="col" { (visit.t("About")) }
        th scope="col" { (visit.t("Outcome")) }
        th scope="col" { (visit.t("Request")) }
    }
}

/// A line in a table of actions.
pub(super) fn row(visit: &Visit, action: &Action) -> Markup {
    let method = action.method.rsplit('/').next().unwrap_or_default();
    let good = action.outcome == "ok";
    html! {
        tr {
            td { (ago(visit, action.time.as_option())) br; span.quiet { (moment(action.time.as_option())) } }
            td { a href=(of_author(&action.author)) { (action.author) } br; span.quiet { (action.roles.join(", ")) } }
            td { (method) @if !action.through.is_empty() { br; span.quiet { (action.through) } } }
            td {
                @if let Some(place) = place_of(action) { a href=(place) { (action.about) } br; }
                @else if !action.about.is_empty() { (action.about) br; }
                @if !action.about.is_empty() { a.quiet href=(about(&action.about)) { (visit.t("all of it")) } }
            }
            td {
                (state(if good { Tone::Good } else { Tone::Bad }, if good { visit.t("done") } else { &action.outcome }))
                @if !action.error.is_empty() { br; span.quiet { (cut(&action.error)) } }
            }
            td.wide.code { (cut(&action.request)) }
        }
    }
}

/// Where the actions of somebody are.
fn of_author(author: &str) -> String {
    format!("/console/actions{}", query(&[("author", author)]))
}

/// Where the actions about something are.
fn about(what: &str) -> String {
    format!("/console/actions{}", query(&[("about", what)]))
}

/// Leads to what was done to something, for those who may see it.
pub(super) fn link(visit: &Visit, what: &str) -> Markup {
    html! {
        @if visit.may(access::Action::SeeProcess) { p { a href=(about(what)) { (visit.t("Recorded actions")) } } }
    }
}

/// The page of what an action was about.
fn place_of(action: &Action) -> Option<String> {
    let (service, method) = action.method.split_once('/')?;
    let about = Some(&*action.about).filter(|about| !about.is_empty())?;
    Some(match service {
        "torg.stages.v1.StageAdminService" if !method.ends_with("Recrawl") => path(&["stages", about]),
        "torg.tasks.v1.TaskService" if method != "ApplyTasks" => path(&["tasks", about]),
        "torg.tasks.v1.CtlService" => path(&["values", about]),
        "torg.offers.v1.OfferService" | "torg.offers.v1.ModerationService" => path(&["offers", about]),
        "torg.offers.v1.CabinetService" => path(&["sellers", about]),
        "torg.feeds.v1.FeedService" if method == "SetMapping" => path(&["sellers", about]),
        // A file that was uploaded goes to a path of its own.
        "torg.feeds.v1.FeedService" | "POST " => {
            let (seller, namespace) = about.rsplit_once('/')?;
            path(&["feeds", seller, namespace])
        }
        _ => return None,
    })
}
