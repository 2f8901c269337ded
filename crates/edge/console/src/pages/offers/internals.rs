//! Moderation, billing, and the state of an offer in every stage.

use access::Action;
use maud::{Markup, html};
use wire::torg::offers::v1::explain_offer_response::StageStanding;
use wire::torg::offers::v1::opinion::Verdict;
use wire::torg::offers::v1::{Billing, ExplainOfferResponse, Moderation};

use super::waits;
use crate::view::{Tone, ago_of_offers, columns, empty, long, path, state, table, token};
use crate::visit::Visit;

/// The form of the release buttons; each button names its stage.
const RELEASE_FORM: &str = "release-form";

pub(super) fn moderation(visit: &Visit, moderation: Option<&Moderation>) -> Markup {
    let Some(opinion) = moderation.and_then(|moderation| moderation.opinion.as_option()) else {
        return empty(visit.t("No opinion of moderation."));
    };
    let verdict = match opinion.verdict.as_known().unwrap_or_default() {
        Verdict::VERDICT_ALLOW => state(Tone::Good, visit.t("allowed")),
        Verdict::VERDICT_BAN => state(Tone::Bad, visit.t("banned")),
        Verdict::VERDICT_UNSPECIFIED => state(Tone::Plain, visit.t("not known")),
    };
    html! {
        p { (verdict) " " (opinion.moderator) " " (ago_of_offers(visit, opinion.time.as_option())) }
        @if opinion.offer_version > 0 { p.quiet { (visit.f("Based on version {0}", &[&opinion.offer_version])) } }
        @for reason in &opinion.reasons { p { code { (reason.code) } " " (reason.text) } }
    }
}

pub(super) fn billing(visit: &Visit, billing: Option<&Billing>) -> Markup {
    let Some(billing) = billing.filter(|billing| **billing != Billing::default()) else {
        return empty(visit.t("No billing data."));
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

/// The state in every stage, and why.
pub(super) fn stages(visit: &Visit, explained: &ExplainOfferResponse) -> Markup {
    let nobody = visit.t("nobody");
    let by = if explained.served_by.is_empty() { nobody } else { &explained.served_by };
    let columns = columns![
        text "Stage", text "State", text "Last visit", number "Failed attempts",
        text "Last error",
    ];
    let none = visit.t("No stage visits it: it is archived.");
    html! {
        p { a href=(path(&["cluster"])) { (visit.f("Shard {0}, served by {1}", &[&explained.shard, &by])) } }
        @for note in &explained.notes { p.notice lang="en" { (note) } }
        (table(visit, visit.t("Stages"), &columns, none, explained.stages.iter().map(|stage| row(visit, stage))))
    }
}

fn row(visit: &Visit, stage: &StageStanding) -> Markup {
    html! {
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

/// The form of the release buttons, outside the part that is refreshed.
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
