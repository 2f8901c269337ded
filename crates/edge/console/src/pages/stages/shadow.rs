//! What a stage's shadow makes of the same offers.

use maud::{Markup, html};
use wire::torg::stages::v1::{Difference, ShadowReport};

use crate::pages::offers::change;
use crate::view::{ago_of_offers, empty, long, number, path, table};
use crate::visit::Visit;

pub(super) fn show(visit: &Visit, report: &ShadowReport) -> Markup {
    html! {
        dl.facts {
            dt { (visit.t("The same answers")) } dd { (number(report.same)) }
            dt { (visit.t("Different answers")) } dd { a href="#shadow-examples" { (number(report.different)) } }
            dt { (visit.t("Failed")) } dd { a href="#shadow-examples" { (number(report.failed)) } }
            dt { (visit.t("Not compared, because it could not keep up")) } dd { (number(report.left_out)) }
        }
        h3 #shadow-examples { (visit.t("Examples of differences")) }
        @if report.examples.is_empty() {
            (empty(visit.t("No difference was seen yet.")))
        } @else {
            (examples(visit, &report.examples))
        }
    }
}

fn examples(visit: &Visit, examples: &[Difference]) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Offer")) }
        th scope="col" { (visit.t("What the shadow makes of it instead")) }
    };
    table(
        visit.t("Examples of differences"),
        &head,
        &html! {
            @for example in examples {
                tr {
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
                        @if example.state_changes { div.quiet { (visit.t("Another private state")) } }
                        @if let Some(time) = example.visit_at.as_option() {
                            div.quiet { (visit.t("Next visit")) " " (ago_of_offers(visit, Some(time))) }
                        }
                    }
                }
            }
        },
    )
}
