//! Differences between a stage and its shadow.

use maud::{Markup, html};
use wire::torg::stages::v1::{Difference, ShadowReport};

use crate::pages::offers::change;
use crate::view::{ago_of_offers, columns, long, number, path, table};
use crate::visit::Visit;

pub(super) fn show(visit: &Visit, report: &ShadowReport) -> Markup {
    html! {
        dl.facts {
            dt { (visit.t("The same answers")) } dd { (number(report.same)) }
            dt { (visit.t("Different answers")) } dd { a href="#shadow-examples" { (number(report.different)) } }
            dt { (visit.t("Failed")) } dd { a href="#shadow-examples" { (number(report.failed)) } }
            dt { (visit.t("Not compared: the shadow was too slow")) } dd { (number(report.left_out)) }
        }
        h3 #shadow-examples { (visit.t("Examples of differences")) }
        (examples(visit, &report.examples))
    }
}

fn examples(visit: &Visit, examples: &[Difference]) -> Markup {
    let columns = columns![text "Offer", text "Answer of the shadow"];
    let rows = examples.iter().map(|example| html! {
        th scope="row" {
            a href=(path(&["offers", &example.id])) { (example.id) }
            br; span.quiet { (visit.f("version {0}", &[&example.version])) }
        }
        td.wide {
            @let id = format!("example-{}-{}", example.id, example.version);
            @if !example.failure.is_empty() { div.bad-text { (long(&id, &example.failure)) } }
            @for field in &example.fields {
                div { code { (field.field) } ": " (change(&format!("{id}-{}", field.field), field.before.as_deref(), field.after.as_deref())) }
            }
            @if example.state_changes { div.quiet { (visit.t("Different private state")) } }
            @if let Some(time) = example.visit_at.as_option() {
                div.quiet { (visit.t("Next visit")) " " (ago_of_offers(visit, Some(time))) }
            }
        }
    });
    table(visit, visit.t("Examples of differences"), &columns, visit.t("No differences yet."), rows)
}
