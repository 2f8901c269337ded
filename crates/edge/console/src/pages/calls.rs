//! Calls from outside: of each service how many and how long they take, and how they ended.

use std::collections::BTreeSet;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use wire::torg::admin::v1::{Figure, GetFiguresRequest, GetFiguresResponse};

use crate::layout::Place;
use crate::routes::Console;
use crate::services::methods::GET_FIGURES;
use crate::view::{Tone, empty, length, plot, rate, state, table};
use crate::visit::Visit;

/// Points of a plot.
const POINTS: u32 = 90;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/calls", get(show))
}

async fn show(visit: Visit) -> Response {
    let request =
        GetFiguresRequest { prefix: "rpc_".to_owned(), points_max: POINTS, ..GetFiguresRequest::default() };
    let body = visit.call(GET_FIGURES, &request).await.map(|answer| {
        html! {
            p { (visit.t("Calls to this process, over gRPC and HTTP: those of programs, of commands, and of this console.")) }
            div data-live #services { (services(&visit, &answer)) }
            h2 { (visit.t("How they ended")) }
            div data-live #outcomes { (outcomes(&visit, &answer)) }
        }
    });
    visit.page(Place::Overview, visit.t("Calls"), body)
}

/// The figures of a name, by a label.
fn named<'a>(answer: &'a GetFiguresResponse, name: &'a str) -> impl Iterator<Item = &'a Figure> {
    answer.figures.iter().filter(move |figure| figure.name == name)
}

fn label<'a>(figure: &'a Figure, label: &str) -> &'a str {
    figure.labels.get(label).map(String::as_str).unwrap_or_default()
}

fn services(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    // All of them together stand first, without a name.
    let names: BTreeSet<&str> =
        named(answer, "rpc_calls_per_s").map(|figure| label(figure, "service")).collect();
    if names.is_empty() {
        return empty(visit.t("Nobody has called yet."));
    }
    let head = html! {
        th scope="col" { (visit.t("Service")) }
        th.n scope="col" { (visit.t("Calls in a second")) }
        th.n scope="col" { (visit.t("Half take no longer than")) }
        th.n scope="col" { (visit.t("95 of 100 take no longer than")) }
        th scope="col" { (visit.t("Calls over time")) }
    };
    let of = |name: &'static str, service: &str| {
        let found = named(answer, name).find(|figure| label(figure, "service") == service);
        found.map_or((f64::NAN, Vec::new()), |figure| (figure.now, figure.past.clone()))
    };
    table(
        visit.t("Calls"),
        &head,
        &html! {
            @for service in names {
                @let (calls, past) = of("rpc_calls_per_s", service);
                tr {
                    th scope="row" { @if service.is_empty() { (visit.t("all")) } @else { (service) } }
                    td.n { (rate(calls)) }
                    td.n { (length(visit, of("rpc_duration_p50_seconds", service).0)) }
                    td.n { (length(visit, of("rpc_duration_p95_seconds", service).0)) }
                    td { (plot(service, &past)) }
                }
            }
        },
    )
}

fn outcomes(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    let figures: Vec<&Figure> = named(answer, "rpc_outcomes_per_s").collect();
    if figures.is_empty() {
        return empty(visit.t("Nobody has called yet."));
    }
    let head = html! {
        th scope="col" { (visit.t("Outcome")) }
        th.n scope="col" { (visit.t("Calls in a second")) }
        th scope="col" { (visit.t("Calls over time")) }
    };
    table(
        visit.t("How they ended"),
        &head,
        &html! {
            @for figure in figures {
                @let code = label(figure, "code");
                tr {
                    th scope="row" { (state(if code == "ok" { Tone::Good } else { Tone::Bad }, code)) }
                    td.n { (rate(figure.now)) }
                    td { (plot(code, &figure.past)) }
                }
            }
        },
    )
}
