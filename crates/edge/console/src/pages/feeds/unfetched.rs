//! Why a feed could not be fetched, in the language of the person.

use maud::{Markup, html};
use wire::torg::feeds::v1::Fetch;

use crate::language::Language;
use crate::view::long;
use crate::visit::Visit;
use crate::words_mark::w;

/// What was said of a fetch: what it means, in the language of the person as far as it is known, and then the very words, with what is special about the case.
pub(in crate::pages) fn said(visit: &Visit, fetch: &Fetch) -> Markup {
    let known = meaning(&fetch.code).filter(|_| visit.language() != Language::English);
    html! {
        @if let Some(known) = known { div { (visit.t(known)) } }
        @if !fetch.text.is_empty() { div.quiet[known.is_some()] lang="en" { (long("fetch", &fetch.text)) } }
    }
}

/// What a code of the downloads means.
fn meaning(code: &str) -> Option<&'static str> {
    Some(match code {
        "bad_url" | "long_url" | "scheme" | "user_info" | "odd_address" => {
            w("The link cannot be used as it is written.")
        }
        "port" | "host_denied" | "private_address" => w("Nothing may be fetched from there."),
        "no_address" => w("The host of the link has no address."),
        "unreachable" => w("The server of the link cannot be reached."),
        "tls" => w("There is no safe connection: see to the certificate of the server."),
        "proxy" => w("The proxy does not connect."),
        "too_long" | "too_slow" => w("The server of the link is too slow."),
        "too_large" | "too_large_unpacked" | "ratio" => w("The file is too large."),
        "bad_packing" | "other_packing" => w("The file is packed in a way that cannot be read."),
        "head_too_large" | "not_http" => w("What answers at the link does not keep to HTTP."),
        "too_many_redirects" | "redirect_loop" | "redirect_nowhere" | "downgrade" => {
            w("The link leads on and on: give the link of the file itself.")
        }
        "status" => {
            w("The server of the link answers with an error: see whether it opens without signing in.")
        }
        "truncated" => w("The connection broke off in the middle of the file."),
        "wrong_kind" => w("What stands at the link is no feed: give the link of the file itself."),
        _ => return None,
    })
}
