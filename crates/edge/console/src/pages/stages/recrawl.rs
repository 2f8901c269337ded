//! The re-crawl of all offers: progress and controls.

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use wire::torg::stages::v1::{
    CancelRecrawlRequest, PauseRecrawlRequest, Recrawl, ResumeRecrawlRequest, StartRecrawlRequest,
};

use crate::form::Form;
use crate::language::w;
use crate::services::{Failure, Kind};
use crate::view::{Tone, ago_of_offers, empty, number, path, state, token};
use crate::visit::Visit;

const PLACE: &str = "recrawl";
/// The form of the buttons inside the refreshed part.
const FORM: &str = "recrawl-form";

/// The form of the buttons, outside the part that is refreshed.
pub(super) fn form(visit: &Visit) -> Markup {
    html! {
        @if visit.may(Action::Administer) {
            form id=(FORM) method="post" action=(path(&[PLACE])) { (token(visit)) }
        }
    }
}

pub(super) fn show(visit: &Visit, recrawl: Option<&Recrawl>) -> Markup {
    let offered = visit.may(Action::Administer);
    let Some(recrawl) = recrawl else {
        return html! {
            (empty(visit.t("No re-crawl yet.")))
            @if offered { (speeds(visit, "start", visit.t("Start a re-crawl"))) }
        };
    };
    let going = !recrawl.done && !recrawl.cancelled;
    html! {
        div.card {
            p.line {
                (status(visit, recrawl))
                span { (visit.t("Started")) " " (ago_of_offers(visit, recrawl.start_time.as_option())) }
                span { (speed(visit, recrawl.per_second)) }
            }
            label for="recrawl-progress" { (visit.f("Shards done: {0} of {1}", &[&recrawl.shards_done, &recrawl.shards])) }
            progress #recrawl-progress value=(recrawl.shards_done) max=(recrawl.shards.max(1)) {}
            dl.facts {
                dt { (visit.t("Offers seen")) } dd { (number(recrawl.seen)) }
                dt { (visit.t("Visits queued")) } dd { a href="#stages" { (number(recrawl.queued)) } }
                dt { (visit.t("Offers that could not be read")) } dd { (number(recrawl.damaged)) }
            }
            @if offered && going {
                p.line {
                    @if !recrawl.paused {
                        button #recrawl-pause form=(FORM) name="do" value="pause" { (visit.t("Pause")) }
                    }
                    button.danger #recrawl-cancel form=(FORM) name="do" value="cancel"
                        data-confirm=(visit.t("Cancel the re-crawl? The next one starts from the beginning.")) { (visit.t("Cancel")) }
                }
            }
            @if offered && going && recrawl.paused { (speeds(visit, "resume", visit.t("Continue"))) }
            @if offered && !going { (speeds(visit, "start", visit.t("Start a re-crawl"))) }
        }
    }
}

fn status(visit: &Visit, recrawl: &Recrawl) -> Markup {
    if recrawl.cancelled {
        state(Tone::Plain, visit.t("cancelled"))
    } else if recrawl.done {
        state(Tone::Good, visit.t("done"))
    } else if recrawl.paused {
        state(Tone::Warn, visit.t("paused"))
    } else {
        state(Tone::Good, visit.t("in progress"))
    }
}

fn speed(visit: &Visit, per_second: u32) -> String {
    match per_second {
        0 => visit.t("no speed limit").to_owned(),
        most => visit.f("at most {0} offers per second", &[&number(most.into())]),
    }
}

/// A form with a speed limit.
fn speeds(visit: &Visit, act: &str, text: &str) -> Markup {
    html! {
        details id={ "recrawl-" (act) } {
            summary { (text) }
            form.inline method="post" action=(path(&[PLACE])) data-confirm=[(act == "start").then(|| visit.t("Visit every offer again with all stages?"))] {
                (token(visit))
                label for="per_second" {
                    (visit.t("Offers per second; empty: no limit"))
                    input #per_second name="per_second" type="number" min="1" max="1000000";
                }
                button.main name="do" value=(act) { (text) }
            }
        }
    }
}

pub(super) async fn act(visit: Visit, form: Form) -> Response {
    let outcome = done(&visit, &form).await;
    visit.done(&path(&["stages"]), outcome)
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Failure> {
    let per_second = form.number("per_second", w("Offers per second; empty: no limit"))?;
    let text = match form.text("do") {
        "start" => {
            let request = StartRecrawlRequest { per_second, ..Default::default() };
            visit.act(&request).await?;
            visit.t("The re-crawl has started.")
        }
        "pause" => {
            visit.act(&PauseRecrawlRequest::default()).await?;
            visit.t("The re-crawl is paused.")
        }
        "resume" => {
            let request = ResumeRecrawlRequest { per_second, ..Default::default() };
            visit.act(&request).await?;
            visit.t("The re-crawl continues.")
        }
        "cancel" => {
            visit.act(&CancelRecrawlRequest::default()).await?;
            visit.t("The re-crawl is cancelled.")
        }
        _ => return Err(Failure::new(Kind::Refused, visit.t("The form names no action."))),
    };
    Ok(text.to_owned())
}
