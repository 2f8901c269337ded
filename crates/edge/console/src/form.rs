//! Forms: what somebody sends to have something done.
//!
//! A form is believed only if it was made for the session that sends it, and if the browser does not say that another site made it.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, Uri};

use crate::language::Language;
use crate::limits::{FORM_BYTES_MAX, FORM_TIME_MAX};
use crate::routes::Console;
use crate::services::{Failure, Kind};
use crate::visit::{Visit, filled};
use crate::words_mark::w;

/// The field with the token against forgery.
pub(crate) const TOKEN_FIELD: &str = "form_token";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The fields of a form. Of several with one name the last counts.
#[derive(Debug, Default)]
pub(crate) struct Form {
    fields: BTreeMap<String, String>,
    language: Language,
}

impl Form {
    /// The text of a field without spaces around it; empty if it was left out.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.fields.get(name).map(|value| value.trim()).unwrap_or_default()
    }

    /// Why somebody does what they do. Blanks are no reason.
    pub(crate) fn reason(&self) -> Result<String, Failure> {
        match self.text("reason") {
            "" => Err(Failure::new(Kind::Refused, self.language.t(w("Say why: the reason is missing.")))),
            reason => Ok(reason.to_owned()),
        }
    }

    /// Whether a box was ticked.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The number in a field; zero if it was left empty. `label` is what the person knows the field by.
    pub(crate) fn number<N: std::str::FromStr + Default>(
        &self,
        name: &str,
        label: &'static str,
    ) -> Result<N, Failure> {
        match self.text(name) {
            "" => Ok(N::default()),
            text => text.parse().map_err(|_| {
                let wrong = self.language.t("{0}: “{1}” is no number that fits here");
                Failure::new(Kind::Refused, filled(wrong, &[&self.language.t(label), &text]))
            }),
        }
    }

    /// Reads the fields.
    pub(crate) fn parse(bytes: &[u8], language: Language) -> Self {
        Self { fields: url::form_urlencoded::parse(bytes).into_owned().collect(), language }
    }
}

/// What a form brings, if it is not too large and comes in time.
pub(crate) async fn body(request: Request, bytes_max: usize, time_max: Duration) -> Option<Bytes> {
    let reading = to_bytes(request.into_body(), bytes_max);
    tokio::time::timeout(time_max, reading).await.ok()?.ok()
}

impl FromRequest<Console> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, _: &Console) -> Result<Self, Response> {
        let Some(visit) = request.extensions().get::<Visit>().cloned() else {
            return Err(crate::visit::nobody());
        };
        let refuse = |text: &'static str| visit.refused(&Failure::new(Kind::Refused, visit.t(text)));
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with(FORM_TYPE) {
            return Err(refuse("This is no form."));
        }
        if !is_own(request.headers()) {
            return Err(visit.forged());
        }
        let Some(bytes) = body(request, FORM_BYTES_MAX, FORM_TIME_MAX).await else {
            return Err(refuse("The form is too large, or broke off."));
        };
        let form = Self::parse(&bytes, visit.language());
        if visit.made(form.text(TOKEN_FIELD)) { Ok(form) } else { Err(visit.forged()) }
    }
}

/// Whether a request was made by a page of our own, as far as the browser tells. What it says of the site cannot be said by a script, and holds behind a proxy
/// that has a host of its own, too; a browser that does not say it still says the origin.
pub(crate) fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match text("sec-fetch-site") {
        Some("same-origin") => return true,
        Some("none") | None => {}
        Some(_) => return false,
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return true };
    let authority = origin.parse::<Uri>().ok().and_then(|origin| origin.into_parts().authority);
    authority.is_some_and(|authority| text(HOST.as_str()) == Some(authority.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_form_of_another_site_is_told_by_what_the_browser_says() {
        let host = ("host", "torg.example:8080");
        for own in [
            vec![host],
            vec![host, ("origin", "http://torg.example:8080")],
            vec![host, ("sec-fetch-site", "same-origin")],
            vec![host, ("sec-fetch-site", "none")],
            // A proxy asks us by another name.
            vec![
                ("host", "10.0.0.7:8080"),
                ("origin", "https://torg.example"),
                ("sec-fetch-site", "same-origin"),
            ],
        ] {
            assert!(is_own(&headers(&own)), "{own:?}");
        }
        for foreign in [
            vec![host, ("origin", "http://evil.example")],
            vec![host, ("origin", "http://torg.example:9999")],
            vec![host, ("origin", "null")],
            vec![host, ("origin", "http://evil.example"), ("sec-fetch-site", "none")],
            vec![host, ("sec-fetch-site", "cross-site")],
            vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://torg.example:8080")],
        ] {
            assert!(!is_own(&headers(&foreign)), "{foreign:?}");
        }
    }

    #[test]
    fn fields_are_trimmed_and_numbers_are_checked() {
        let form =
            Form::parse("reason=%20%D0%B4%D0%B0%20&rate=12&odd=x&box=on".as_bytes(), Language::English);
        assert_eq!(form.text("reason"), "да");
        assert_eq!(form.reason().unwrap(), "да");
        let blank = Form::parse(b"reason=%20%20", Language::English).reason();
        assert_eq!(blank.unwrap_err().text, "Say why: the reason is missing.");
        assert_eq!(form.number::<u32>("rate", "Offers"), Ok(12));
        assert_eq!(form.number::<u32>("left_out", "Offers"), Ok(0));
        let odd = form.number::<u32>("odd", "Offers").unwrap_err();
        assert_eq!(odd.text, "Offers: “x” is no number that fits here");
        assert!(form.is_on("box") && !form.is_on("other"));
    }
}
