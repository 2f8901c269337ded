//! The processes on the store, and who serves which part of the offers.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use wire::torg::admin::v1::get_cluster_response::{Process, Shard, Work};
use wire::torg::admin::v1::{
    GetClusterRequest, GetClusterResponse, GetInfoRequest, GetInfoResponse, ListProblemsRequest,
};

use crate::layout::Place;
use crate::routes::Console;
use crate::services::methods::{GET_CLUSTER, GET_INFO, LIST_WRONGS};
use crate::view::{
    Tone, ago, ago_of_offers, amount, empty, length, number, part, path, state, table, time_of,
};
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/cluster", get(show))
}

async fn show(visit: Visit) -> Response {
    let (info, cluster) = (GetInfoRequest::default(), GetClusterRequest::default());
    let wrongs = ListProblemsRequest::default();
    let (info, cluster, wrongs) = tokio::join!(
        visit.call(GET_INFO, &info),
        visit.call(GET_CLUSTER, &cluster),
        visit.call(LIST_WRONGS, &wrongs),
    );
    let is_old = wrongs.is_ok_and(|wrongs| wrongs.problems.iter().any(|wrong| wrong.code == "store_away"));
    let body = match (&info, &cluster) {
        // Who may see neither may not be here.
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            div data-live #cluster {
                (part(&visit, &info, |info| about(&visit, info)))
                @if is_old { p.notice.bad { (visit.t("The store does not answer: what follows is as it was known last.")) } }
                (part(&visit, &cluster, |cluster| processes(&visit, cluster)))
            }
        }),
    };
    visit.page(Place::Cluster, visit.t("Cluster"), body)
}

fn about(visit: &Visit, info: &GetInfoResponse) -> Markup {
    html! {
        div.card {
            h2 { (visit.t("This process")) }
            dl.facts {
                dt { (visit.t("Version")) } dd { (info.version) }
                dt { (visit.t("Runs for")) } dd { (length(visit, f64::from(info.uptime_s))) }
                dt { (visit.t("Roles")) } dd { (info.roles.join(", ")) }
                dt { (visit.t("Store")) } dd { (info.store_engine) }
            }
        }
    }
}

fn processes(visit: &Visit, cluster: &GetClusterResponse) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Process")) }
        th scope="col" { (visit.t("Heard of")) }
        th.n scope="col" { (visit.t("Shards")) }
        th.n scope="col" { (visit.t("Visits in a second")) }
        th scope="col" { (visit.t("Stages that do not answer")) }
    };
    if cluster.shards.is_empty() {
        return empty(
            visit.t("Who serves offers is not known yet: it is read from the store seconds after the start."),
        );
    }
    let unserved = cluster.shards.iter().filter(|shard| shard.owner.is_empty()).count();
    html! {
        h2 { (visit.t("Processes that serve offers")) }
        @if cluster.processes.is_empty() {
            (empty(visit.t("No process serves offers: start one with the role scheduler.")))
        } @else {
            (table(visit.t("Processes that serve offers"), &head, &html! {
                @for process in &cluster.processes { (process_row(visit, process, &cluster.answered_by)) }
            }))
        }
        @for work in &cluster.works { (other_work(visit, work)) }
        h2 { (visit.t("Shards of offers")) }
        @if unserved > 0 {
            p.notice.bad role="alert" { a href="#shards" { (visit.f("Shards that nobody serves: {0}. Their offers wait.", &[&number(unserved as u64)])) } }
        }
        details #shards { summary { (visit.f("All {0} shards", &[&number(cluster.shards.len() as u64)])) } (shards(visit, &cluster.shards)) }
    }
}

fn process_row(visit: &Visit, process: &Process, here: &str) -> Markup {
    html! {
        tr {
            th scope="row" { code { (process.name) } @if process.name == here { " " (state(Tone::Good, visit.t("this one"))) } }
            td { (ago_of_offers(visit, process.seen.as_option())) }
            td.n { a href="#shards" { (number(process.shards.into())) } }
            td.n { a href=(path(&["stages"])) { (amount(process.visits_per_s)) } }
            td {
                @if process.stages_down.is_empty() { (state(Tone::Good, visit.t("none"))) }
                @for stage in &process.stages_down { a href=(path(&["stages", stage])) { (state(Tone::Bad, stage)) } " " }
            }
        }
    }
}

/// Work beside that on offers: who has it, and until when.
fn other_work(visit: &Visit, work: &Work) -> Markup {
    let (title, nobody, place) = match &*work.kind {
        "feeds" => (
            visit.t("Processes that see to feeds"),
            visit.t("No process sees to feeds: start one with the roles loader and processor."),
            Some(path(&["feeds"])),
        ),
        "tasks" => (
            visit.t("The process that decides about tasks"),
            visit.t("No process decides about tasks: start one with the role reactive."),
            Some(path(&["tasks"])),
        ),
        // Something that this console does not know yet.
        other => (other, visit.t("nobody"), None),
    };
    let head = html! {
        th scope="col" { (visit.t("Process")) }
        th scope="col" { (visit.t("Heard of")) }
        th.n scope="col" { (visit.t("Shards")) }
        th scope="col" { (visit.t("Lease until")) }
    };
    // The one that ends first.
    let lease = |process: &Process| {
        let own = work.shards.iter().filter(|shard| shard.owner == process.name);
        ago(visit, own.filter_map(|shard| shard.lease_until.as_option()).min_by_key(|until| time_of(until)))
    };
    let unserved = work.shards.iter().filter(|shard| shard.owner.is_empty()).count();
    let served = work.processes.iter().filter(|process| process.shards > 0);
    html! {
        h2 { (title) }
        @if unserved == work.shards.len() {
            (empty(nobody))
        } @else {
            @if unserved > 0 {
                p.notice.bad role="alert" { (visit.f("Shards that nobody serves: {0} of {1}. What is in them waits.", &[&unserved, &work.shards.len()])) }
            }
            (table(title, &head, &html! {
                @for process in served {
                    tr {
                        th scope="row" { code { (process.name) } }
                        td { (ago(visit, process.seen.as_option())) }
                        @let shards = visit.f("{0} of {1}", &[&process.shards, &work.shards.len()]);
                        td.n { @if let Some(place) = &place { a href=(place) { (shards) } } @else { (shards) } }
                        td { (lease(process)) }
                    }
                }
            }))
        }
    }
}

fn shards(visit: &Visit, shards: &[Shard]) -> Markup {
    let head = html! {
        th.n scope="col" { (visit.t("Shard")) }
        th scope="col" { (visit.t("Served by")) }
        th scope="col" { (visit.t("Lease until")) }
        th scope="col" { (visit.t("Exported to")) }
    };
    table(
        visit.t("Shards"),
        &head,
        &html! {
            @for shard in shards {
                tr {
                    th.n scope="row" { (shard.number) }
                    td { @if shard.owner.is_empty() { (state(Tone::Bad, visit.t("nobody"))) } @else { code { (shard.owner) } } }
                    td { (ago_of_offers(visit, shard.lease_until.as_option())) }
                    td { (ago(visit, shard.exported_to.as_option())) }
                }
            }
        },
    )
}
