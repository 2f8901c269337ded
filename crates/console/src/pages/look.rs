//! How somebody wants to see pages: the language, light or dark. Kept in cookies for a year.

use axum::Router;
use axum::response::Response;
use axum::routing::post;

use crate::answer::{Keeping, inside, see, set_cookie};
use crate::form::Form;
use crate::language::Language;
use crate::routes::Console;
use crate::visit::{LANGUAGE_COOKIE, THEME_COOKIE, Theme, Visit};

const YEAR_SECONDS: u64 = 365 * 24 * 3600;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/look", post(set))
}

async fn set(visit: Visit, form: Form) -> Response {
    let mut answer = see(inside(form.text("back")));
    let keeping = Keeping { secure: visit.look().secure, seconds: Some(YEAR_SECONDS) };
    if let Some(language) = Language::from_code(form.text("language")) {
        set_cookie(answer.headers_mut(), LANGUAGE_COOKIE, language.code(), keeping);
    }
    if let Some(theme) = Theme::from_name(form.text("theme")) {
        set_cookie(answer.headers_mut(), THEME_COOKIE, theme.name(), keeping);
    }
    answer
}
