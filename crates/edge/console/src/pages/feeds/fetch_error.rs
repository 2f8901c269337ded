//! Fetch errors in the language of the visitor.

use maud::{Markup, html};
use wire::torg::feeds::v1::Fetch;

use crate::language::Language;
use crate::language::w;
use crate::view::long;
use crate::visit::Visit;

/// The translated meaning of an error, if known, followed by the original text.
pub(in crate::pages) fn fetch_error(visit: &Visit, fetch: &Fetch) -> Markup {
    let known = meaning(&fetch.code).filter(|_| visit.language() != Language::English);
    html! {
        @if let Some(known) = known { div { (visit.t(known)) } }
        @if !fetch.text.is_empty() { div.quiet[known.is_some()] lang="en" { (long("fetch", &fetch.text)) } }
    }
}

fn meaning(code: &str) -> Option<&'static str> {
    Some(match code {
        "bad_url" | "long_url" | "scheme" | "user_info" | "odd_address" => w("The link is invalid."),
        "port" | "host_denied" | "private_address" => w("Fetching from there is not allowed."),
        "no_address" => w("The host of the link has no address."),
        "unreachable" => w("The server of the link cannot be reached."),
        "tls" => w("The TLS connection failed: check the certificate of the server."),
        "proxy" => w("The proxy does not connect."),
        "too_long" | "too_slow" => w("The server of the link is too slow."),
        "too_large" | "too_large_unpacked" | "ratio" => w("The file is too large."),
        "bad_packing" | "other_packing" => w("The compression of the file is not supported."),
        "head_too_large" | "not_http" => w("The server of the link does not speak HTTP."),
        "too_many_redirects" | "redirect_loop" | "redirect_nowhere" | "downgrade" => {
            w("The link redirects too often: give the link of the file itself.")
        }
        "status" => {
            w("The server of the link answers with an error: check that it opens without signing in.")
        }
        "truncated" => w("The connection broke off in the middle of the file."),
        "wrong_kind" => w("The link does not lead to a feed: give the link of the file itself."),
        _ => return None,
    })
}
