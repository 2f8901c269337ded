//! The processes that share the store, and which of them serves which shards.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use wire::torg::admin::v1::get_cluster_response::{Process, Shard, Work};
use wire::torg::admin::v1::{
    GetClusterRequest, GetClusterResponse, GetInfoRequest, GetInfoResponse, ListProblemsRequest,
};

use crate::layout::Section;
use crate::routes::Console;
use crate::view::{
    Tone, ago, ago_of_offers, amount, columns, empty, length, linked, number, part, path, state, table,
    time_of,
};
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/cluster", get(show))
}

async fn show(visit: Visit) -> Response {
    let (info, cluster) = (GetInfoRequest::default(), GetClusterRequest::default());
    let wrongs = ListProblemsRequest::default();
    let (info, cluster, wrongs) = tokio::join!(visit.call(&info), visit.call(&cluster), visit.call(&wrongs),);
    let is_old = wrongs.is_ok_and(|wrongs| wrongs.problems.iter().any(|wrong| wrong.code == "store_away"));
    let body = match (&info, &cluster) {
        // A caller who may see neither has no access to the page.
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            div data-live #cluster {
                (part(&visit, &info, |info| about(&visit, info)))
                @if is_old { p.notice.bad { (visit.t("The store does not answer: this is the last known state.")) } }
                (part(&visit, &cluster, |cluster| processes(&visit, cluster)))
            }
        }),
    };
    visit.page(Section::Cluster, visit.t("Cluster"), body)
}

fn about(visit: &Visit, info: &GetInfoResponse) -> Markup {
    html! {
        div.card {
            h2 { (visit.t("This process")) }
            dl.facts {
                dt { (visit.t("Version")) } dd { (info.version) }
                dt { (visit.t("Uptime")) } dd { (length(visit, f64::from(info.uptime_s))) }
                dt { (visit.t("Roles")) } dd { (info.roles.join(", ")) }
                dt { (visit.t("Store")) } dd { (info.store_engine) }
            }
        }
    }
}

fn processes(visit: &Visit, cluster: &GetClusterResponse) -> Markup {
    let columns = columns![
        text "Process", text "Last seen", number "Shards", number "Visits per second",
        text "Stages that do not answer",
    ];
    if cluster.shards.is_empty() {
        return empty(
            visit.t("It is not known yet which process serves offers: that is read from the store seconds after the start."),
        );
    }
    let unserved = cluster.shards.iter().filter(|shard| shard.owner.is_empty()).count();
    let none = visit.t("No process serves offers: start one with the role stages.");
    let rows = cluster.processes.iter().map(|process| process_row(visit, process, &cluster.answered_by));
    html! {
        h2 { (visit.t("Processes that serve offers")) }
        (table(visit, visit.t("Processes that serve offers"), &columns, none, rows))
        @for work in &cluster.works { (other_work(visit, work)) }
        h2 { (visit.t("Shards of offers")) }
        @if unserved > 0 {
            p.notice.bad role="alert" { a href="#shards" { (visit.f("Unserved shards: {0}. Their offers wait.", &[&number(unserved as u64)])) } }
        }
        details #shards { summary { (visit.f("All {0} shards", &[&number(cluster.shards.len() as u64)])) } (shards(visit, &cluster.shards)) }
    }
}

fn process_row(visit: &Visit, process: &Process, here: &str) -> Markup {
    html! {
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

/// Feeds and tasks: which process holds the lease, and until when.
fn other_work(visit: &Visit, work: &Work) -> Markup {
    let (title, nobody, place) = match &*work.kind {
        "feeds" => (
            visit.t("Processes that serve feeds"),
            visit.t("No process serves feeds: start one with the roles loader and processor."),
            Some(path(&["feeds"])),
        ),
        "tasks" => (
            visit.t("The process that plans tasks"),
            visit.t("No process plans tasks: start one with the role tasks."),
            Some(path(&["tasks"])),
        ),
        // A kind that this console does not know yet.
        other => (other, visit.t("nobody"), None),
    };
    let columns = columns![text "Process", text "Last seen", number "Shards", text "Lease until"];
    // The lease that ends first.
    let lease = |process: &Process| {
        let own = work.shards.iter().filter(|shard| shard.owner == process.name);
        ago(visit, own.filter_map(|shard| shard.lease_until.as_option()).min_by_key(|until| time_of(until)))
    };
    let unserved = work.shards.iter().filter(|shard| shard.owner.is_empty()).count();
    let served = work.processes.iter().filter(|process| process.shards > 0);
    let rows = served.map(|process| {
        let shards = visit.f("{0} of {1}", &[&process.shards, &work.shards.len()]);
        html! {
            th scope="row" { code { (process.name) } }
            td { (ago(visit, process.seen.as_option())) }
            td.n { (linked(&shards, place.as_deref())) }
            td { (lease(process)) }
        }
    });
    html! {
        h2 { (title) }
        @if (1..work.shards.len()).contains(&unserved) {
            p.notice.bad role="alert" { (visit.f("Unserved shards: {0} of {1}. Their work waits.", &[&unserved, &work.shards.len()])) }
        }
        (table(visit, title, &columns, nobody, rows))
    }
}

fn shards(visit: &Visit, shards: &[Shard]) -> Markup {
    let columns = columns![number "Shard", text "Served by", text "Lease until", text "Exported to"];
    let rows = shards.iter().map(|shard| html! {
        th.n scope="row" { (shard.number) }
        td { @if shard.owner.is_empty() { (state(Tone::Bad, visit.t("nobody"))) } @else { code { (shard.owner) } } }
        td { (ago_of_offers(visit, shard.lease_until.as_option())) }
        td { (ago(visit, shard.exported_to.as_option())) }
    });
    table(visit, visit.t("Shards"), &columns, "", rows)
}
