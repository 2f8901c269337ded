//! The HTML page that explains problem codes; reports link to it.

use std::fmt::Write as _;

use axum::body::Body;
use axum::response::Response;
use feedfile::{Code, Language, Severity};
use http::{HeaderValue, header};

const STYLE: &str = "body{font-family:sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;line-height:1.5}\
                     h2{font-family:monospace;margin-bottom:0}small{color:#666}:target{background:#ff9}";

pub(super) fn answer(language: Language) -> Response {
    let mut answer = Response::new(Body::from(html(language)));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-language"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    answer
}

fn html(language: Language) -> String {
    let (lang, title, error, warning) = match language {
        Language::English => ("en", "Problems of feeds, and how to mend them", "error", "warning"),
        Language::Russian => ("ru", "Проблемы фидов и как их исправить", "ошибка", "предупреждение"),
    };
    let mut text = format!(
        "<!doctype html><html lang=\"{lang}\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\n"
    );
    for code in Code::all() {
        let texts = code.texts(language);
        let severity = if code.severity() == Severity::Error { error } else { warning };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "<h2 id=\"{name}\">{name}</h2><small>{severity}</small><p>{}</p><p><b>{}</b></p>",
            escaped(texts.meaning),
            escaped(texts.remedy),
            name = code.name(),
        );
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_place_on_the_page_in_both_languages() {
        for language in [Language::English, Language::Russian] {
            let page = html(language);
            for code in Code::all() {
                assert!(page.contains(&format!("<h2 id=\"{code}\">")), "{code}");
                assert!(page.contains(&escaped(code.texts(language).remedy)), "{code}");
            }
        }
    }
}
