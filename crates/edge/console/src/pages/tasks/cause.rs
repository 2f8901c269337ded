//! The cause of a run in words.

use maud::{Markup, html};
use wire::torg::tasks::v1::{Cause, cause};

use crate::view::moment;
use crate::visit::Visit;

pub(super) fn why(visit: &Visit, cause: Option<&Cause>) -> Markup {
    match cause.and_then(|cause| cause.kind.as_ref()) {
        None => html! { (visit.t("its trigger holds")) },
        Some(cause::Kind::Manual(manual)) => {
            let signed = manual.signed.as_option().cloned().unwrap_or_default();
            html! {
                (visit.f("requested by {0}", &[&signed.by]))
                @if !signed.reason.is_empty() { br; span.quiet { (signed.reason) } }
            }
        }
        Some(cause::Kind::Chunk(chunk)) => html! {
            (visit.t("backfill")) ": " (moment(chunk.start.as_option())) " – " (moment(chunk.end.as_option()))
        },
    }
}
