//! Sign-in and sign-out.
//!
//! With access control on, the visitor enters an API key or a signed token. With access control
//! off, anyone on this machine chooses a role and sees the console in that role.
//!
//! A sign-in form is read before its sender is known: each address may send a few at a time, and
//! each must arrive quickly.

use access::{Peer, Proof, Role};
use axum::extract::{Query, Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use serde::Deserialize;

use crate::answer::{CookieOptions, cookie, html as answer, inside, secured, see, set_cookie};
use crate::form::{Form, body, is_own};
use crate::language::Language;
use crate::language::w;
use crate::layout::{self, document, role_name};
use crate::limits::{COOKIE_BYTES_MAX, SESSION_TIME_MAX, SIGN_IN_BYTES_MAX, SIGN_IN_TIME_MAX};
use crate::pages::preferences::keep_language;
use crate::routes::Console;
use crate::session::{Credential, Session, caller_in_role};
use crate::view::query;
use crate::visit::{Preferences, SESSION_COOKIE, authenticate, shown_token};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The page to go to afterwards.
    next: String,
    /// The role, with access control off.
    #[serde(rename = "as")]
    role: String,
    seller: String,
    /// Switches the language: visitors who are not signed in have no form for it.
    language: String,
}

/// The page, or the session at once if the link names a role.
pub(crate) async fn show(
    State(console): State<Console>,
    Query(params): Query<Params>,
    headers: HeaderMap,
) -> Response {
    let mut preferences = Preferences::of(&console, &headers);
    let language = Language::from_code(&params.language);
    preferences.language = language.unwrap_or(preferences.language);
    let free = is_free(&console, &headers).await;
    let mut shown = if free && !params.role.is_empty() {
        choose(&console, preferences, &params)
    } else {
        secured(answer(StatusCode::OK, page(preferences, free, &params, None)))
    };
    if let Some(language) = language {
        keep_language(shown.headers_mut(), language, preferences.secure);
    }
    shown
}

/// Checks the credentials of a sign-in form.
pub(crate) async fn take(State(console): State<Console>, request: Request) -> Response {
    let preferences = Preferences::of(&console, request.headers());
    let headers = request.headers().clone();
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let free = is_free(&console, &headers).await;
    let refused =
        |params: &Params, status, why| secured(answer(status, page(preferences, free, params, Some(why))));
    let nothing = Params::default();
    // Protects against login CSRF.
    if !is_own(&headers) {
        let why =
            w("This form came from another site, or through a proxy that does not forward the header Host.");
        return refused(&nothing, StatusCode::FORBIDDEN, why);
    }
    let Some(turn) = console.sign_ins().take(console.gate().address(&headers, peer)) else {
        return layout::busy(preferences);
    };
    let bytes = body(request, SIGN_IN_BYTES_MAX, SIGN_IN_TIME_MAX).await;
    drop(turn);
    let Some(bytes) = bytes else {
        return refused(&nothing, StatusCode::BAD_REQUEST, w("The form is too large or incomplete."));
    };
    let form = Form::parse(&bytes, preferences.language);
    let params = Params {
        next: form.text("next").to_owned(),
        role: form.text("as").to_owned(),
        seller: form.text("seller").to_owned(),
        ..Params::default()
    };
    if free {
        return choose(&console, preferences, &params);
    }
    let token = form.text("token");
    if token.is_empty() {
        return refused(&params, StatusCode::BAD_REQUEST, w("Enter an API key or a token."));
    }
    match authenticate(&console, &shown_token(&headers, token), peer).await {
        Ok(admitted) if !admitted.caller.is_anonymous() => {
            begin(&console, preferences, &admitted.caller, Credential::Token(token.to_owned()), &params)
        }
        Ok(_) => refused(&params, StatusCode::FORBIDDEN, w("This key or token is not valid.")),
        Err(denial) => {
            let why = match denial.code {
                access::Code::Unavailable => {
                    w("The store does not answer, so the key cannot be checked now. Try again.")
                }
                access::Code::ResourceExhausted => w("Too many attempts. Wait a moment."),
                _ => w("This key or token is not valid."),
            };
            refused(&params, denial.code.status(), why)
        }
    }
}

/// Signs out.
pub(crate) async fn leave(State(console): State<Console>, request: Request) -> Response {
    let preferences = Preferences::of(&console, request.headers());
    let own = is_own(request.headers()) && cookie(request.headers(), SESSION_COOKIE).is_some();
    let mut answer = see("/console/sign-in");
    if own {
        let gone = CookieOptions { secure: preferences.secure, seconds: Some(0) };
        set_cookie(answer.headers_mut(), SESSION_COOKIE, "", gone);
    }
    secured(answer)
}

/// Whether access control is off.
async fn is_free(console: &Console, headers: &HeaderMap) -> bool {
    let nothing = shown_token(headers, "");
    let nothing: HeaderMap = nothing
        .into_iter()
        .filter_map(|(name, value)| Some((name?, value)))
        .filter(|(name, _)| name == "host")
        .collect();
    console.gate().identify(&nothing).await.is_ok_and(|caller| caller.proof == Proof::Off)
}

fn choose(console: &Console, preferences: Preferences, params: &Params) -> Response {
    let seller = Some(&*params.seller).filter(|seller| !seller.is_empty());
    let caller = Role::from_name(&params.role).and_then(|role| caller_in_role(role, seller));
    let Some(caller) = caller else {
        let why = w("Choose a role; for a seller, say which one.");
        return secured(answer(StatusCode::BAD_REQUEST, page(preferences, true, params, Some(why))));
    };
    begin(console, preferences, &caller, Credential::Choice, params)
}

fn begin(
    console: &Console,
    preferences: Preferences,
    caller: &access::Caller,
    shown: Credential,
    params: &Params,
) -> Response {
    let Some(sealer) = console.sealer() else { return layout::starting(preferences) };
    let session = Session::of(sealer, caller, shown, console.now());
    let Some(value) = session.and_then(|session| sealer.seal(SESSION_COOKIE, &session)) else {
        return layout::starting(preferences);
    };
    if value.len() > COOKIE_BYTES_MAX {
        let why = w("This token is too long for a cookie. Use an API key, or a token with fewer claims.");
        return secured(answer(StatusCode::BAD_REQUEST, page(preferences, false, params, Some(why))));
    }
    let mut answer = see(inside(&params.next));
    let options = CookieOptions { secure: preferences.secure, seconds: Some(SESSION_TIME_MAX.as_secs()) };
    set_cookie(answer.headers_mut(), SESSION_COOKIE, &value, options);
    secured(answer)
}

fn page(preferences: Preferences, free: bool, params: &Params, wrong: Option<&'static str>) -> Markup {
    let t = |text| preferences.language.t(text);
    let inner = html! {
        main #main.alone {
            div.card {
                h1 { (crate::assets::logo()) " " (t(w("Sign in to Torg"))) }
                @if let Some(why) = wrong { p.notice.bad role="alert" { (t(why)) } }
                @if free { (roles(preferences, params)) } @else { (token_form(preferences, params)) }
                (other_language(preferences, params))
            }
        }
    };
    document(preferences, t(w("Sign in")), &inner)
}

/// A link to the same page in the other language; it changes nothing else.
fn other_language(preferences: Preferences, params: &Params) -> Markup {
    let other = preferences.language.other();
    let place = format!("/console/sign-in{}", query(&[("next", &params.next), ("language", other.code())]));
    html! {
        p { a href=(place) lang=(other.code()) hreflang=(other.code()) { (other.name()) } }
    }
}

fn token_form(preferences: Preferences, params: &Params) -> Markup {
    let t = |text| preferences.language.t(text);
    html! {
        form.fields method="post" action="/console/sign-in" {
            input type="hidden" name="next" value=(params.next);
            label for="token" {
                (t(w("API key or token")))
                input #token type="password" name="token" required autocomplete="current-password" maxlength="16384";
            }
            p.hint {
                (t(w("The operator of Torg creates keys:"))) " "
                code { "torg keys add \"Anna\" --role support" }
            }
            button.main { (t(w("Sign in"))) }
        }
    }
}

fn roles(preferences: Preferences, params: &Params) -> Markup {
    let t = |text| preferences.language.t(text);
    html! {
        p { (t(w("Access control is off: everyone on this machine may do everything. Choose a role to see the console as."))) }
        form.fields method="post" action="/console/sign-in" {
            input type="hidden" name="next" value=(params.next);
            div.line {
                @for role in [Role::Admin, Role::Moderator, Role::Support] {
                    button.main[role == Role::Admin] name="as" value=(role.name()) { (t(role_name(role))) }
                }
            }
        }
        // A separate form, so that Enter in its field presses its button.
        form.fields method="post" action="/console/sign-in" {
            input type="hidden" name="next" value=(params.next);
            label for="seller" {
                (t(w("Or a seller:")))
                input #seller name="seller" required maxlength="200" value=(params.seller);
            }
            div { button name="as" value="seller" { (t(w("seller"))) } }
        }
    }
}
