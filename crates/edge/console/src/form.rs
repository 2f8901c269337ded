//! Forms that change something.
//!
//! A form is accepted only if it carries the token of the session that sends it and the browser
//! does not report another site as its origin.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, Uri};

use crate::language::Language;
use crate::language::w;
use crate::limits::{FORM_BYTES_MAX, FORM_TIME_MAX};
use crate::routes::Console;
use crate::services::{Failure, Kind};
use crate::visit::{Visit, filled};

/// The field with the CSRF token.
pub(crate) const TOKEN_FIELD: &str = "form_token";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The fields of a form. If a name occurs several times, the last value counts.
#[derive(Debug, Default)]
pub(crate) struct Form {
    fields: BTreeMap<String, String>,
    language: Language,
}

impl Form {
    /// The trimmed text of a field; empty if it is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.fields.get(name).map(|value| value.trim()).unwrap_or_default()
    }

    /// The reason for an action. It must not be blank.
    pub(crate) fn reason(&self) -> Result<String, Failure> {
        match self.text("reason") {
            "" => Err(Failure::new(Kind::Refused, self.language.t(w("The reason is missing: say why.")))),
            reason => Ok(reason.to_owned()),
        }
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The number in a field; zero if the field is empty. `label` is its name on the page.
    pub(crate) fn number<N: FromStr + Default>(&self, name: &str, label: &'static str) -> Result<N, Failure> {
        Ok(self.optional_number(name, label)?.unwrap_or_default())
    }

    /// The number in a field; `None` if the field is empty.
    pub(crate) fn optional_number<N: FromStr>(
        &self,
        name: &str,
        label: &'static str,
    ) -> Result<Option<N>, Failure> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            let wrong = self.language.t("{0}: “{1}” is not a valid number");
            Failure::new(Kind::Refused, filled(wrong, &[&self.language.t(label), &text]))
        })
    }

    pub(crate) fn parse(bytes: &[u8], language: Language) -> Self {
        Self { fields: url::form_urlencoded::parse(bytes).into_owned().collect(), language }
    }
}

/// The body of a form, unless it is too large or too slow.
pub(crate) async fn body(request: Request, bytes_max: usize, time_max: Duration) -> Option<Bytes> {
    let reading = to_bytes(request.into_body(), bytes_max);
    tokio::time::timeout(time_max, reading).await.ok()?.ok()
}

impl FromRequest<Console> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, _: &Console) -> Result<Self, Response> {
        let Some(visit) = request.extensions().get::<Visit>().cloned() else {
            return Err(crate::visit::no_visit());
        };
        let refuse = |text: &'static str| visit.refused(&Failure::new(Kind::Refused, visit.t(text)));
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with(FORM_TYPE) {
            return Err(refuse("This is not a form."));
        }
        if !is_own(request.headers()) {
            return Err(visit.forged());
        }
        let Some(bytes) = body(request, FORM_BYTES_MAX, FORM_TIME_MAX).await else {
            return Err(refuse("The form is too large or incomplete."));
        };
        let form = Self::parse(&bytes, visit.language());
        if visit.made(form.text(TOKEN_FIELD)) { Ok(form) } else { Err(visit.forged()) }
    }
}

/// Whether a page of the console made the request, as far as the browser tells. A script cannot
/// forge `Sec-Fetch-Site`, and it holds behind a proxy with another host name; browsers without it
/// still send the origin.
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
        assert_eq!(blank.unwrap_err().text, "The reason is missing: say why.");
        assert_eq!(form.number::<u32>("rate", "Offers"), Ok(12));
        assert_eq!(form.number::<u32>("left_out", "Offers"), Ok(0));
        let odd = form.number::<u32>("odd", "Offers").unwrap_err();
        assert_eq!(odd.text, "Offers: “x” is not a valid number");
        assert!(form.is_on("box") && !form.is_on("other"));
    }
}
