//! One request of one person, and its authentication.

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;

use access::{Action, Admitted, Caller, Code, Denial, Peer};
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use clock::Time;
use http::header::{AUTHORIZATION, HOST, REFERER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, StatusCode, Uri};
use maud::Markup;
use serde::{Deserialize, Serialize};

use crate::answer::{self, CookieOptions, cookie, html, see, set_cookie};
use crate::language::Language;
use crate::layout::{self, Section};
use crate::limits::{ACT_TIME_MAX, CALL_TIME_MAX, GATE_TIME_MAX, NOTICE_CHARS_MAX, SESSION_TIME_MAX};
use crate::overview_cache::Audience;
use crate::routes::Console;
use crate::services::{self, Call, Failure, Kind};
use crate::session::{Credential, Session};
use crate::view::{self, Tone};

pub(crate) const SESSION_COOKIE: &str = "torg_session";
pub(crate) const LANGUAGE_COOKIE: &str = "torg_language";
pub(crate) const THEME_COOKIE: &str = "torg_theme";
const NOTICE_COOKIE: &str = "torg_notice";
/// The header of a refresh by the script.
const LIVE_HEADER: &str = "torg-live";

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Visit(Arc<Inner>);

struct Inner {
    console: Console,
    caller: Caller,
    session: Session,
    /// The key could not be checked.
    unchecked: bool,
    preferences: Preferences,
    notice: Option<Notice>,
    uri: Uri,
    /// A request without side effects.
    is_read: bool,
}

/// Preferences of the visitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preferences {
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    /// Only the refreshed parts are requested.
    pub(crate) live: bool,
    /// Cookies are sent over TLS only.
    pub(crate) secure: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::System, Self::Light, Self::Dark].into_iter().find(|theme| theme.name() == name)
    }
}

impl Preferences {
    pub(crate) fn of(console: &Console, headers: &HeaderMap) -> Self {
        let forwarded = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let language = cookie(headers, LANGUAGE_COOKIE).and_then(Language::from_code);
        Self {
            language: language.unwrap_or_else(|| Language::asked_for(headers)),
            theme: cookie(headers, THEME_COOKIE).and_then(Theme::from_name).unwrap_or_default(),
            live: headers.contains_key(LIVE_HEADER),
            secure: console.has_tls() || forwarded,
        }
    }
}

/// A message for the next page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl Visit {
    /// Translates a text.
    pub(crate) fn t(&self, text: &'static str) -> &'static str {
        self.0.preferences.language.t(text)
    }

    /// Translates a text and fills its placeholders `{0}`, `{1}`, ...
    pub(crate) fn f(&self, text: &'static str, filling: &[&dyn Display]) -> String {
        filled(self.t(text), filling)
    }

    pub(crate) fn language(&self) -> Language {
        self.0.preferences.language
    }

    pub(crate) fn preferences(&self) -> Preferences {
        self.0.preferences
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.session.name
    }

    /// Whether the caller may do this. Pages do not offer what is not allowed.
    pub(crate) fn may(&self, action: Action) -> bool {
        !self.0.unchecked && self.0.caller.may(action)
    }

    /// The seller that the caller is, if any.
    pub(crate) fn own_seller(&self) -> Option<&str> {
        self.0.caller.seller.as_deref().filter(|_| self.0.caller.roles.has(access::Role::Seller))
    }

    /// Whether the role was chosen with access control off.
    pub(crate) fn is_choice(&self) -> bool {
        self.0.session.shown == Credential::Choice
    }

    pub(crate) fn is_unchecked(&self) -> bool {
        self.0.unchecked
    }

    pub(crate) fn notice(&self) -> Option<&Notice> {
        self.0.notice.as_ref()
    }

    pub(crate) fn here(&self) -> &str {
        self.0.uri.path_and_query().map_or("/console/", http::uri::PathAndQuery::as_str)
    }

    /// Whether the request is a GET, which can be repeated.
    pub(crate) fn is_read(&self) -> bool {
        self.0.is_read
    }

    /// Now, by the machine's clock.
    pub(crate) fn now(&self) -> Time {
        self.0.console.now()
    }

    /// Now, by the clock of offers, which differs in the demo.
    pub(crate) fn now_of_offers(&self) -> Time {
        self.0.console.now_of_offers()
    }

    /// Calls a service in the name of the person.
    pub(crate) async fn call<Q: Call>(&self, request: &Q) -> Result<Q::Answer, Failure> {
        let (services, bytes) = (self.0.console.services(), request.encode_to_vec());
        let answer = services::call(services, &self.0.caller, self.language(), Q::METHOD, bytes);
        let timed_out = |_| {
            let text = self.f("No answer within {0} seconds.", &[&CALL_TIME_MAX.as_secs()]);
            Failure::new(Kind::Unavailable, text)
        };
        Q::read_answer(&tokio::time::timeout(CALL_TIME_MAX, answer).await.map_err(timed_out)??)
    }

    /// Calls a method that changes something. The call runs to its end even if the person stops
    /// waiting for it.
    pub(crate) async fn act<Q: Call>(&self, request: &Q) -> Result<Q::Answer, Failure> {
        let (visit, method) = (self.clone(), Q::METHOD);
        let bytes = request.encode_to_vec();
        let call = tokio::spawn(async move {
            let (services, caller) = (visit.0.console.services(), &visit.0.caller);
            services::call(services, caller, visit.language(), method, bytes).await
        });
        match tokio::time::timeout(ACT_TIME_MAX, call).await {
            Ok(Ok(answer)) => Q::read_answer(&answer?),
            Ok(Err(broken)) => Err(Failure::new(Kind::Broken, broken.to_string())),
            Err(_) => {
                let text = self.t("This is still in progress: see the page Actions for its outcome.");
                Err(Failure::new(Kind::InProgress, text))
            }
        }
    }

    /// Sends the request that a form asks for, and redirects to a page, which shows the outcome.
    pub(crate) async fn submit<Q: Call>(
        &self,
        back: &str,
        request: Result<Q, Failure>,
        say: impl FnOnce(Q::Answer) -> String,
    ) -> Response {
        let outcome = match request {
            Ok(request) => self.act(&request).await.map(say),
            Err(failure) => Err(failure),
        };
        self.done(back, outcome)
    }

    /// Sends a raw request in the name of the person: uploads and downloads.
    pub(crate) async fn forward(&self, request: Request) -> Response {
        services::forward(self.0.console.services(), &self.0.caller, request).await
    }

    /// The CSRF token for this person's forms.
    pub(crate) fn form_token(&self) -> String {
        self.0.console.sealer().map(|sealer| sealer.form_token(&self.0.session)).unwrap_or_default()
    }

    /// An opaque mark of this person.
    pub(crate) fn mark(&self) -> String {
        self.0.console.sealer().map(|sealer| sealer.mark(&self.0.session)).unwrap_or_default()
    }

    pub(crate) fn made(&self, token: &str) -> bool {
        self.0.console.sealer().is_some_and(|sealer| sealer.is_form_of(&self.0.session, token))
    }

    /// A page with its content, or with the failure.
    pub(crate) fn page(&self, section: Section, title: &str, body: Result<Markup, Failure>) -> Response {
        let (status, body) = match body {
            Ok(body) => (StatusCode::OK, body),
            Err(failure) => (failure.kind.status(), view::failure(self, &failure)),
        };
        html(status, layout::page(self, section, title, &body))
    }

    /// The shared overview, if it is fresh and the caller may see it.
    pub(crate) fn shared_overview(&self) -> Option<Markup> {
        let may = self.0.caller.may(Action::SeeProcess);
        may.then(|| self.0.console.overview().get(self.audience(), self.now())).flatten()
    }

    pub(crate) fn share_overview(&self, body: &Markup) {
        self.0.console.overview().put(self.audience(), self.now(), body);
    }

    fn audience(&self) -> Audience {
        Audience { language: self.language(), topics: self.may(Action::UseTopics) }
    }

    /// Redirects to a page that shows the outcome of an action.
    pub(crate) fn done(&self, back: &str, outcome: Result<String, Failure>) -> Response {
        let notice = match outcome {
            Ok(text) => Notice { tone: Tone::Good, text },
            Err(Failure { kind: Kind::InProgress, text }) => Notice { tone: Tone::Plain, text },
            Err(failure) => Notice { tone: Tone::Bad, text: failure.text },
        };
        let text = notice.text.chars().take(NOTICE_CHARS_MAX).collect();
        let mut answer = see(back);
        let sealed =
            self.0.console.sealer().and_then(|sealer| sealer.seal(NOTICE_COOKIE, &Notice { text, ..notice }));
        if let Some(sealed) = sealed {
            let options = CookieOptions { secure: self.0.preferences.secure, seconds: Some(60) };
            set_cookie(answer.headers_mut(), NOTICE_COOKIE, &sealed, options);
        }
        answer
    }

    pub(crate) fn refused(&self, failure: &Failure) -> Response {
        self.page(Section::Other, self.t("This was not done"), Err(failure.clone()))
    }

    /// The answer to a form without a valid CSRF token.
    pub(crate) fn forged(&self) -> Response {
        let why =
            self.t("This form is not from your session, so nothing was done. Reload the page and try again.");
        self.refused(&Failure::new(Kind::Forbidden, why))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        parts.extensions.get::<Self>().cloned().ok_or_else(no_visit)
    }
}

/// A route that is not behind [`admit`].
pub(crate) fn no_visit() -> Response {
    html(StatusCode::INTERNAL_SERVER_ERROR, maud::html! { "internal error" })
}

/// Fills the placeholders `{0}`, `{1}`, ... Values are not searched for placeholders.
pub(crate) fn filled(text: &str, values: &[&dyn Display]) -> String {
    let mut pieces = text.split('{');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let place =
            piece.split_once('}').and_then(|(place, rest)| Some((place.parse::<usize>().ok()?, rest)));
        match place.and_then(|(place, rest)| Some((values.get(place)?, rest))) {
            Some((value, rest)) => whole.extend([&*value.to_string(), rest]),
            None => whole.extend(["{", piece]),
        }
    }
    whole
}

/// Authenticates the request, or redirects to the sign-in page.
pub(crate) async fn admit(State(console): State<Console>, mut request: Request, next: Next) -> Response {
    let preferences = Preferences::of(&console, request.headers());
    let Some(sealer) = console.sealer() else { return layout::starting(preferences) };
    let now = console.now();
    let known: Option<Session> =
        cookie(request.headers(), SESSION_COOKIE).and_then(|sealed| sealer.open(SESSION_COOKIE, sealed));
    let known = known.filter(|session| !session.is_over(now));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let judged = authenticate(&console, &shown(request.headers(), known.as_ref()), peer).await;
    let is_read = matches!(*request.method(), Verb::GET | Verb::HEAD);
    let (caller, unchecked, permit) = match judged {
        Ok(admitted) => (admitted.caller, false, Some(admitted.permit)),
        Err(denial) => match (denial.code, &known) {
            (Code::Unavailable, Some(session)) if is_read && session.holds_unchecked(now) => {
                (session.caller(), true, None)
            }
            (Code::Unauthenticated, _) => return layout::sign_in_first(preferences, &wanted(&request)),
            _ => return layout::denied(preferences, &denial),
        },
    };
    if caller.is_anonymous() {
        return layout::sign_in_first(preferences, &wanted(&request));
    }
    let is_choice = known.as_ref().is_some_and(|session| session.shown == Credential::Choice);
    let (session, fresh) = match known {
        // A chosen role is valid only with access control off.
        Some(session) if (caller.proof == access::Proof::Off) == is_choice => {
            match session.rechecked(&caller, now).filter(|_| !unchecked && !is_choice) {
                Some(renewed) => (renewed, true),
                None => (session, false),
            }
        }
        _ => match Session::of(sealer, &caller, Credential::Choice, now) {
            Some(session) => (session, true),
            None => return layout::starting(preferences),
        },
    };
    let caller = if is_choice && !fresh { session.caller() } else { caller };
    let cookie_of = fresh.then(|| sealer.seal(SESSION_COOKIE, &session)).flatten();
    let notice: Option<Notice> = cookie(request.headers(), NOTICE_COOKIE)
        .filter(|_| !preferences.live)
        .and_then(|sealed| sealer.open(NOTICE_COOKIE, sealed));
    let message = notice.is_some();
    let uri = request.uri().clone();
    let inner =
        Inner { console: console.clone(), caller, session, unchecked, preferences, notice, uri, is_read };
    request.extensions_mut().insert(Visit(Arc::new(inner)));
    let mut answer = next.run(request).await;
    drop(permit);
    if let Some(sealed) = cookie_of {
        let options = CookieOptions { secure: preferences.secure, seconds: Some(SESSION_TIME_MAX.as_secs()) };
        set_cookie(answer.headers_mut(), SESSION_COOKIE, &sealed, options);
    }
    if message && !answer.status().is_redirection() {
        let gone = CookieOptions { secure: preferences.secure, seconds: Some(0) };
        set_cookie(answer.headers_mut(), NOTICE_COOKIE, "", gone);
    }
    answer::secured(answer)
}

/// The verdict of the gate within a time limit: a key that is not cached is looked up in the store,
/// which may be unavailable.
pub(crate) async fn authenticate(
    console: &Console,
    shown: &HeaderMap,
    peer: Option<IpAddr>,
) -> Result<Admitted, Denial> {
    let judged = tokio::time::timeout(GATE_TIME_MAX, console.gate().admit(shown, peer)).await;
    judged.unwrap_or_else(|_| Err(Denial::new(Code::Unavailable, "the store does not answer")))
}

/// The page to return to after the sign-in: the requested one, or the one with the form.
fn wanted(request: &Request) -> Uri {
    if matches!(*request.method(), Verb::GET | Verb::HEAD) {
        return request.uri().clone();
    }
    let from = request.headers().get(REFERER).and_then(|from| from.to_str().ok()?.parse::<Uri>().ok());
    let path =
        from.as_ref().and_then(Uri::path_and_query).map_or("/console/", http::uri::PathAndQuery::as_str);
    answer::inside(path).parse().unwrap_or_default()
}

/// The headers that the gate needs: the host, the address, the credential of the session.
fn shown(headers: &HeaderMap, session: Option<&Session>) -> HeaderMap {
    let mut shown = HeaderMap::new();
    for name in [HOST, HeaderName::from_static("x-forwarded-for")] {
        for value in headers.get_all(&name) {
            shown.append(&name, value.clone());
        }
    }
    if let Some(Credential::Token(token)) = session.map(|session| &session.shown)
        && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}"))
    {
        value.set_sensitive(true);
        shown.insert(AUTHORIZATION, value);
    }
    shown
}

/// The headers for a sign-in with a token.
pub(crate) fn shown_token(headers: &HeaderMap, token: &str) -> HeaderMap {
    let mut shown = shown(headers, None);
    if let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}")) {
        value.set_sensitive(true);
        shown.insert(AUTHORIZATION, value);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_looks_like_a_place_is_not_filled_again() {
        assert_eq!(filled("{0} of {1}", &[&"{1}", &"{0}"]), "{1} of {0}");
        assert_eq!(filled("{1}, {0}, {1}", &[&1, &"b"]), "b, 1, b");
        assert_eq!(filled("{2} {x} {", &[&"a"]), "{2} {x} {");
    }
}
