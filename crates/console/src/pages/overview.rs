//! The overview: what is wrong, and how everything fares.

mod figures;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use contract::torg::admin::v1::{
    GetFiguresRequest, ListProblemsRequest, ListProblemsResponse, Problem, problem,
};
use maud::{Markup, html};

use crate::answer::see;
use crate::language::Language;
use crate::layout::{self, Place};
use crate::routes::Console;
use crate::services::methods::{GET_FIGURES, LIST_WRONGS};
use crate::view::{ago, length, part, path};
use crate::visit::Visit;
use crate::words_mark::w;
use figures::Figures;
pub(super) use figures::together;

/// Torg looks every two seconds, and a look takes as long at most; after so many nobody does.
const LOOKED_LATELY_S: f64 = 15.0;
/// Points of a small plot.
const POINTS: u32 = 45;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/", get(show)).route("/console", get(begin))
}

async fn begin(_: Visit) -> Response {
    see("/console/")
}

async fn show(visit: Visit) -> Response {
    // A seller has no overview: their own offers are where they begin.
    if visit.own_seller().is_some() && layout::first_page(&visit) != "/console/" {
        return see(layout::first_page(&visit));
    }
    let wrongs = ListProblemsRequest::default();
    let figures = GetFiguresRequest { points_max: POINTS, ..GetFiguresRequest::default() };
    let (wrongs, figures) = tokio::join!(visit.call(LIST_WRONGS, &wrongs), visit.call(GET_FIGURES, &figures));
    let figures = figures.map(|answer| Figures::of(&answer));
    let body = match (&wrongs, &figures) {
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            div data-live #wrongs { (part(&visit, &wrongs, |wrongs| problems(&visit, wrongs))) }
            div data-live #figures { (part(&visit, &figures, |figures| figures.show(&visit))) }
        }),
    };
    visit.page(Place::Overview, visit.t("Overview"), body)
}

/// What is wrong, each with the page where something can be done about it.
fn problems(visit: &Visit, answer: &ListProblemsResponse) -> Markup {
    let age = answer.age.as_option().map(|age| age.seconds.max(0) as f64);
    html! {
        h2 { (visit.t("What is wrong")) }
        @if let Some(age) = age.filter(|age| *age > LOOKED_LATELY_S) {
            p.notice.bad {
                (visit.f("Nobody has looked for {0}: what is said here may not hold any more.", &[&length(visit, age)]))
            }
        }
        @if !answer.time.is_set() {
            p.notice { (visit.t("Nobody has looked yet: that happens seconds after the start.")) }
        } @else if answer.problems.is_empty() {
            p.notice.good { (visit.t("Nothing is wrong that Torg knows of.")) }
        } @else {
            ul.problems { @for problem in &answer.problems { (one(visit, problem)) } }
        }
    }
}

fn one(visit: &Visit, wrong: &Problem) -> Markup {
    use problem::Severity;
    let class = match wrong.severity.as_known() {
        Some(Severity::SEVERITY_ERROR) => "bad",
        Some(Severity::SEVERITY_WARNING) => "warn",
        _ => "plain",
    };
    let place = place_of(wrong);
    let (head, more) = head(visit, wrong);
    html! {
        li class=(class) {
            strong { @if let Some(place) = &place { a href=(place) { (head) } } @else { (head) } }
            @if let Some(since) = wrong.since.as_option() { " " span.quiet { (ago(visit, Some(since))) } }
            @if let Some(more) = more { p { (more) } }
            @if !wrong.remedy.is_empty() { p.quiet { (commands(&wrong.remedy)) } }
        }
    }
}

/// What is wrong in the language of the person, and then the very words of Torg if they are others.
fn head<'a>(visit: &Visit, wrong: &'a Problem) -> (String, Option<&'a str>) {
    let known = match &*wrong.code {
        "store_away" => w("The store does not answer"),
        "store_full" => w("The disk of the store is full: nothing can be saved"),
        "store_read_only" => w("The store takes no writes: nothing can be saved"),
        "store_failed" => w("The store has stopped after a failed write"),
        "topics_away" => w("The topics do not answer"),
        "not_ready" => w("This process is not ready: {0}"),
        "process_gone" => w("A process is gone: {0}"),
        "shard_unserved" => w("Some shards are served by nobody"),
        "stage_down" => w("Stage {0} does not answer"),
        "stage_paused" => w("Stage {0} is paused"),
        "stage_parked" => w("Stage {0} has given up on some offers"),
        "queue_late" => w("Stage {0} is late"),
        "export_late" => w("Changes reach the topic late"),
        "feed_unreachable" => w("Feed {0} cannot be fetched"),
        "load_waits" => w("A load of feed {0} waits to be confirmed"),
        "task_failing" => w("Task {0} fails"),
        "task_silent" => w("Task {0} has been silent for too long"),
        "task_regressed" => w("Parameters of task {0} were moved back"),
        "tasks_undecided" => w("No process decides about tasks"),
        "time_moves" => w("The demo makes up its past"),
        _ => return (wrong.text.clone(), None),
    };
    // Several of a kind are told in one line without a name.
    if visit.language() == Language::English || known.contains("{0}") && wrong.about.is_empty() {
        return (wrong.text.clone(), None);
    }
    (visit.f(known, &[&wrong.about]), Some(&wrong.text))
}

/// A text with its commands, which stand between backticks, set apart.
fn commands(text: &str) -> Markup {
    html! {
        @for (place, piece) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// The page about what is wrong.
fn place_of(wrong: &Problem) -> Option<String> {
    let about = &*wrong.about;
    let kind = wrong.code.split('_').next().unwrap_or_default();
    Some(match kind {
        "stage" | "queue" if !about.is_empty() => path(&["stages", about]),
        "feed" | "load" => {
            let (seller, namespace) = about.split_once('/')?;
            path(&["feeds", seller, namespace])
        }
        "task" if !about.is_empty() => path(&["tasks", about]),
        "tasks" | "task" => path(&["tasks"]),
        "export" | "shard" | "process" => path(&["cluster"]),
        "topic" | "topics" => path(&["topics"]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_leads_to_where_it_can_be_mended() {
        let place = |code: &str, about: &str| {
            place_of(&Problem { code: code.into(), about: about.into(), ..Problem::default() })
        };
        assert_eq!(place("stage_down", "prices"), Some("/console/stages/prices".into()));
        assert_eq!(place("feed_unreachable", "anna/default"), Some("/console/feeds/anna/default".into()));
        assert_eq!(place("task_failing", "report"), Some("/console/tasks/report".into()));
        assert_eq!(place("export_late", ""), Some("/console/cluster".into()));
        assert_eq!(place("tasks_undecided", ""), Some("/console/tasks".into()));
        assert_eq!(place("topics_away", ""), Some("/console/topics".into()));
        assert_eq!(place("store_away", ""), None);
    }
}
