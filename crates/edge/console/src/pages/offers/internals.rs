//! What others keep beside an offer, and where it stands in every stage.

use access::Action;
use maud::{Markup, html};
use wire::torg::offers::v1::explain_offer_response::StageStanding;
use wire::torg::offers::v1::opinion::Verdict;
use wire::torg::offers::v1::{Billing, ExplainOfferResponse, Moderation};

use super::waits;
use crate::view::{Tone, ago_of_offers, empty, long, path, state, table, token};
use crate::visit::Visit;

/// The form that the buttons beside parked visits belong to; each of them says which stage it is about.
const RELEASE_FORM: &str = "release-form";

pub(super) fn moderation(visit: &Visit, moderation: Option<&Moderation>) -> Markup {
    let Some(opinion) = moderation.and_then(|moderation| moderation.opinion.as_option()) else {
        return empty(visit.t("Moderation has said nothing about it."));
    };
    let verdict = match opinion.verdict.as_known().unwrap_or_default() {
        Verdict::VERDICT_ALLOW => state(Tone::Good, visit.t("allowed")),
        Verdict::VERDICT_BAN => state(Tone::Bad, visit.t("banned")),
        Verdict::VERDICT_UNSPECIFIED => state(Tone::Plain, visit.t("not known")),
    };
    html! {
        p { (verdict) " " (opinion.moderator) " " (ago_of_offers(visit, opinion.time.as_option())) }
        @if opinion.offer_version > 0 { p.quiet { (visit.f("Looked at version {0}", &[&opinion.offer_version])) } }
        @for reason in &opinion.reasons { p { code { (reason.code) } " " (reason.text) } }
    }
}

pub(super) fn billing(visit: &Visit, billing: Option<&Billing>) -> Markup {
    let Some(billing) = billing.filter(|billing| **billing != Billing::default()) else {
        return empty(visit.t("Billing keeps nothing beside it."));
    };
    html! {
        dl.facts {
            @if !billing.tariff.is_empty() { dt { (visit.t("Tariff")) } dd { (billing.tariff) } }
            @for (kind, until) in &billing.promoted_until {
                dt { (visit.f("Promoted: {0}", &[kind])) } dd { (ago_of_offers(visit, Some(until))) }
            }
            @for (name, note) in &billing.notes { dt { (name) } dd { (note) } }
        }
    }
}

/// Where it stands in every stage, and why.
pub(super) fn stages(visit: &Visit, explained: &ExplainOfferResponse) -> Markup {
    let nobody = visit.t("nobody");
    let by = if explained.served_by.is_empty() { nobody } else { &explained.served_by };
    let head = html! {
        th scope="col" { (visit.t("Stage")) }
        th scope="col" { (visit.t("Where it stands")) }
        th scope="col" { (visit.t("Last visit")) }
        th.n scope="col" { (visit.t("Failed attempts")) }
        th scope="col" { (visit.t("Last error")) }
    };
    html! {
        p { a href=(path(&["cluster"])) { (visit.f("Shard {0}, served by {1}", &[&explained.shard, &by])) } }
        @for note in &explained.notes { p.notice lang="en" { (note) } }
        @if explained.stages.is_empty() {
            (empty(visit.t("No stage sees it any more: it is archived.")))
        } @else {
            (table(visit.t("Stages"), &head, &html! { @for stage in &explained.stages { (row(visit, stage)) } }))
        }
    }
}

fn row(visit: &Visit, stage: &StageStanding) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(path(&["stages", &stage.stage])) { (stage.stage) } }
            td.wide {
                (waits::show(visit, stage))
                @if waits::is_parked(stage) && visit.may(Action::Administer) {
                    " "
                    button id={ "release-" (stage.stage) } form=(RELEASE_FORM)
                        formaction=(path(&["stages", &stage.stage, "release"])) { (visit.t("Release")) }
                }
            }
            td { (waits::last(visit, stage.last_visit.as_option())) }
            td.n { @if stage.failed_attempts == 0 { "0" } @else { a href={ (path(&["stages", &stage.stage])) "#failed" } { (stage.failed_attempts) } } }
            td.wide { (long(&format!("error-{}", stage.stage), &stage.error)) }
        }
    }
}

/// The form of the buttons that release, which stands outside of what changes by itself.
pub(super) fn release_form(visit: &Visit, id: &str) -> Markup {
    html! {
        @if visit.may(Action::Administer) {
            form id=(RELEASE_FORM) method="post" action=(path(&["stages"])) {
                (token(visit))
                input type="hidden" name="offer" value=(id);
                input type="hidden" name="from" value="offer";
            }
        }
    }
}
