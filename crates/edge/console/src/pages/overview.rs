//! The overview: problems and figures.

mod figures;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use wire::torg::admin::v1::{GetFiguresRequest, ListProblemsRequest, ListProblemsResponse};

use crate::answer::see;
use crate::layout::{self, Section};
use crate::routes::Console;
use crate::services::Failure;
use crate::view::{length, part, problem};
use crate::visit::Visit;
use figures::Figures;
pub(super) use figures::{counted, together};

/// Torg checks every two seconds, and a check may take as long; after this time the checks have
/// stopped.
const LOOKED_LATELY_S: f64 = 15.0;
const POINTS: u32 = 45;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/", get(show)).route("/console", get(begin))
}

async fn begin(_: Visit) -> Response {
    see("/console/")
}

async fn show(visit: Visit) -> Response {
    // Sellers have no overview; they start with their offers.
    if visit.own_seller().is_some() && layout::first_page(&visit) != "/console/" {
        return see(layout::first_page(&visit));
    }
    let body = match visit.shared_overview() {
        Some(body) => Ok(body),
        None => body(&visit).await,
    };
    visit.page(Section::Overview, visit.t("Overview"), body)
}

async fn body(visit: &Visit) -> Result<Markup, Failure> {
    let wrongs = ListProblemsRequest::default();
    let figures = GetFiguresRequest { points_max: POINTS, ..Default::default() };
    let (wrongs, figures) = tokio::join!(visit.call(&wrongs), visit.call(&figures));
    let is_whole = wrongs.is_ok() && figures.is_ok();
    let figures = figures.map(|answer| Figures::of(&answer));
    if let (Err(failure), Err(_)) = (&wrongs, &figures) {
        return Err(failure.clone());
    }
    let body = html! {
        div data-live #wrongs { (part(visit, &wrongs, |wrongs| problems(visit, wrongs))) }
        div data-live #figures { (part(visit, &figures, |figures| figures.show(visit))) }
    };
    if is_whole {
        visit.share_overview(&body);
    }
    Ok(body)
}

fn problems(visit: &Visit, answer: &ListProblemsResponse) -> Markup {
    let age = answer.age.as_option().map(|age| age.seconds.max(0) as f64);
    html! {
        h2 { (visit.t("Problems")) }
        @if let Some(age) = age.filter(|age| *age > LOOKED_LATELY_S) {
            p.notice.bad {
                (visit.f("The last check was {0} ago: this may be out of date.", &[&length(visit, age)]))
            }
        }
        @if !answer.time.is_set() {
            p.notice { (visit.t("Not checked yet: the first check runs seconds after the start.")) }
        } @else if answer.problems.is_empty() {
            p.notice.good { (visit.t("No known problems.")) }
        } @else {
            ul.problems { @for wrong in &answer.problems { (problem(visit, wrong)) } }
        }
    }
}
