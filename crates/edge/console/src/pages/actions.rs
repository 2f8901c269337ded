//! The recorded actions of people and programs.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::admin::v1::{Action, ListActionsRequest, ListActionsResponse};

use crate::address::Query;
use crate::language::w;
use crate::layout::Section;
use crate::routes::Console;
use crate::services::Failure;
use crate::view::{Tone, ago, columns, cut, moment, pager, path, query, state, table};
use crate::visit::Visit;

const SHOWN: u32 = 50;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/actions", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params {
    about: String,
    author: String,
    /// `on`: only failed or refused ones.
    failed: String,
    page: String,
}

impl Params {
    fn pairs(&self) -> [(&str, &str); 3] {
        [("about", self.about.trim()), ("author", self.author.trim()), ("failed", &self.failed)]
    }
}

async fn show(visit: Visit, Query(params): Query<Params>) -> Response {
    let body = list(&visit, &params).await;
    visit.page(Section::Actions, visit.t("Actions"), body)
}

async fn list(visit: &Visit, params: &Params) -> Result<Markup, Failure> {
    let request = ListActionsRequest {
        about: params.about.trim().to_owned(),
        author: params.author.trim().to_owned(),
        failed: !params.failed.is_empty(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        ..Default::default()
    };
    let answer = visit.call(&request).await?;
    Ok(html! {
        p { (visit.t("Every action that changes how Torg works, with its author; refused ones too.")) }
        form.inline method="get" action="/console/actions" {
            label for="about" { (visit.t("About")) input #about name="about" value=(params.about) maxlength="300"; }
            label for="author" { (visit.t("Who")) input #author name="author" value=(params.author) maxlength="300"; }
            label.box for="failed" { input #failed type="checkbox" name="failed" value="on" checked[!params.failed.is_empty()]; " " (visit.t("Only failed or refused")) }
            button { (visit.t("Show")) }
        }
        div data-live #actions { (rows(visit, params, &answer)) }
        (pager(visit, "/console/actions", &params.pairs(), &params.page, &answer.next_page_token))
    })
}

fn rows(visit: &Visit, params: &Params, answer: &ListActionsResponse) -> Markup {
    // One page looks at a limited number of actions.
    let none = if !answer.next_page_token.is_empty() {
        w("No such actions on this page; there may be more on the next ones.")
    } else if params.pairs().iter().any(|(_, value)| !value.is_empty()) {
        w("No matching actions.")
    } else {
        w("No actions yet.")
    };
    recorded(visit, visit.t("Actions"), visit.t(none), &answer.actions)
}

/// A table of recorded actions.
pub(super) fn recorded(visit: &Visit, label: &str, none: &str, actions: &[Action]) -> Markup {
    let columns =
        columns![text "When", text "Who", text "What", text "About", text "Outcome", text "Request"];
    table(visit, label, &columns, none, actions.iter().map(|action| row(visit, action)))
}

fn row(visit: &Visit, action: &Action) -> Markup {
    let method = action.method.rsplit('/').next().unwrap_or_default();
    let good = action.outcome == "ok";
    html! {
        td { (ago(visit, action.time.as_option())) br; span.quiet { (moment(action.time.as_option())) } }
        td { a href=(of_author(&action.author)) { (action.author) } br; span.quiet { (action.roles.join(", ")) } }
        td { (method) @if !action.through.is_empty() { br; span.quiet { (action.through) } } }
        td {
            @if let Some(place) = place_of(action) { a href=(place) { (action.about) } br; }
            @else if !action.about.is_empty() { (action.about) br; }
            @if !action.about.is_empty() { a.quiet href=(about(&action.about)) { (visit.t("all actions on it")) } }
        }
        td {
            (state(if good { Tone::Good } else { Tone::Bad }, if good { visit.t("done") } else { &action.outcome }))
            @if !action.error.is_empty() { br; span.quiet { (cut(&action.error)) } }
        }
        td.wide.code { (cut(&action.request)) }
    }
}

fn of_author(author: &str) -> String {
    format!("/console/actions{}", query(&[("author", author)]))
}

fn about(what: &str) -> String {
    format!("/console/actions{}", query(&[("about", what)]))
}

/// A link to the actions on something, for those who may see them.
pub(super) fn link(visit: &Visit, what: &str) -> Markup {
    html! {
        @if visit.may(access::Action::SeeProcess) { p { a href=(about(what)) { (visit.t("Recorded actions")) } } }
    }
}

/// The page about the object of an action.
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
        // An uploaded file goes to its own path.
        "torg.feeds.v1.FeedService" | "POST " => {
            let (seller, namespace) = about.rsplit_once('/')?;
            path(&["feeds", seller, namespace])
        }
        _ => return None,
    })
}
