//! RPC figures: rate, duration and outcomes by service.

use std::collections::BTreeSet;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use wire::torg::admin::v1::{Figure, GetFiguresRequest, GetFiguresResponse};

use crate::layout::Section;
use crate::routes::Console;
use crate::view::{Tone, columns, length, plot, rate, state, table};
use crate::visit::Visit;

const POINTS: u32 = 90;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/calls", get(show))
}

async fn show(visit: Visit) -> Response {
    let request = GetFiguresRequest { prefix: "rpc_".to_owned(), points_max: POINTS, ..Default::default() };
    let body = visit.call(&request).await.map(|answer| {
        html! {
            p { (visit.t("Calls to this process, over gRPC and HTTP: those of programs, of commands, and of this console.")) }
            div data-live #services { (services(&visit, &answer)) }
            h2 { (visit.t("Outcomes")) }
            div data-live #outcomes { (outcomes(&visit, &answer)) }
        }
    });
    visit.page(Section::Overview, visit.t("Calls"), body)
}

fn named<'a>(answer: &'a GetFiguresResponse, name: &'a str) -> impl Iterator<Item = &'a Figure> {
    answer.figures.iter().filter(move |figure| figure.name == name)
}

fn label<'a>(figure: &'a Figure, label: &str) -> &'a str {
    figure.labels.get(label).map(String::as_str).unwrap_or_default()
}

fn services(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    // The total comes first, without a name.
    let names: BTreeSet<&str> =
        named(answer, "rpc_calls_per_s").map(|figure| label(figure, "service")).collect();
    let columns = columns![
        text "Service", number "Calls per second", number "Duration (p50)",
        number "Duration (p95)", text "Calls over time",
    ];
    let of = |name: &'static str, service: &str| {
        let found = named(answer, name).find(|figure| label(figure, "service") == service);
        found.map_or((f64::NAN, Vec::new()), |figure| (figure.now, figure.past.clone()))
    };
    let rows = names.into_iter().map(|service| {
        html! {
            @let (calls, past) = of("rpc_calls_per_s", service);
            th scope="row" { @if service.is_empty() { (visit.t("all")) } @else { (service) } }
            td.n { (rate(calls)) }
            td.n { (length(visit, of("rpc_duration_p50_seconds", service).0)) }
            td.n { (length(visit, of("rpc_duration_p95_seconds", service).0)) }
            td { (plot(service, &past)) }
        }
    });
    table(visit, visit.t("Calls"), &columns, visit.t("No calls yet."), rows)
}

fn outcomes(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    let figures: Vec<&Figure> = named(answer, "rpc_outcomes_per_s").collect();
    let columns = columns![text "Outcome", number "Calls per second", text "Calls over time"];
    let rows = figures.iter().map(|figure| {
        html! {
            @let code = label(figure, "code");
            th scope="row" { (state(if code == "ok" { Tone::Good } else { Tone::Bad }, code)) }
            td.n { (rate(figure.now)) }
            td { (plot(code, &figure.past)) }
        }
    });
    table(visit, visit.t("Outcomes"), &columns, visit.t("No calls yet."), rows)
}
