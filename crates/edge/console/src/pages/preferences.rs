//! Preferences of a visitor: language and theme, stored in cookies for a year.

use axum::Router;
use axum::response::Response;
use axum::routing::post;
use http::HeaderMap;

use crate::answer::{CookieOptions, inside, see, set_cookie};
use crate::form::Form;
use crate::language::Language;
use crate::routes::Console;
use crate::visit::{LANGUAGE_COOKIE, THEME_COOKIE, Theme, Visit};

const YEAR_SECONDS: u64 = 365 * 24 * 3600;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/look", post(set))
}

pub(super) fn keep_language(headers: &mut HeaderMap, language: Language, secure: bool) {
    set_cookie(
        headers,
        LANGUAGE_COOKIE,
        language.code(),
        CookieOptions { secure, seconds: Some(YEAR_SECONDS) },
    );
}

async fn set(visit: Visit, form: Form) -> Response {
    let mut answer = see(inside(form.text("back")));
    if let Some(language) = Language::from_code(form.text("language")) {
        keep_language(answer.headers_mut(), language, visit.preferences().secure);
    }
    if let Some(theme) = Theme::from_name(form.text("theme")) {
        let options = CookieOptions { secure: visit.preferences().secure, seconds: Some(YEAR_SECONDS) };
        set_cookie(answer.headers_mut(), THEME_COOKIE, theme.name(), options);
    }
    answer
}
