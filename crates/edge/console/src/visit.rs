//! One request of one person.

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;

use access::{Action, Admitted, Caller, Code, Denial, Peer};
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use buffa::Message;
use clock::Time;
use http::header::{AUTHORIZATION, HOST, REFERER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, StatusCode, Uri};
use maud::Markup;
use serde::{Deserialize, Serialize};

use crate::answer::{self, Keeping, cookie, html, see, set_cookie};
use crate::language::Language;
use crate::layout::{self, Place};
use crate::limits::{ACT_TIME_MAX, CALL_TIME_MAX, GATE_TIME_MAX, NOTICE_CHARS_MAX, SESSION_TIME_MAX};
use crate::routes::Console;
use crate::services::{self, Failure, Kind, Method};
use crate::session::{Session, Shown};
use crate::shared::Audience;
use crate::view::{self, Tone};

pub(crate) const SESSION_COOKIE: &str = "torg_session";
pub(crate) const LANGUAGE_COOKIE: &str = "torg_language";
pub(crate) const THEME_COOKIE: &str = "torg_theme";
const NOTICE_COOKIE: &str = "torg_notice";
/// The script asks with it for what changes on a page.
const LIVE_HEADER: &str = "torg-live";

/// One request of one person: who they are, how they want to see it, and the calls they make. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Visit(Arc<Inner>);

struct Inner {
    console: Console,
    caller: Caller,
    session: Session,
    /// Nobody could say whether their key still holds.
    unchecked: bool,
    look: Look,
    notice: Option<Notice>,
    uri: Uri,
    /// It is asked for a page, and nothing is to be done.
    looks_only: bool,
}

/// How somebody wants to see pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    /// Only what changes on the page is asked for.
    pub(crate) live: bool,
    /// Cookies go over TLS only.
    pub(crate) secure: bool,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system has it.
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

impl Look {
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

/// What one page has to tell on the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl Visit {
    /// A text in the language of the person.
    pub(crate) fn t(&self, text: &'static str) -> &'static str {
        self.0.look.language.t(text)
    }

    /// The same with something in the places `{0}`, `{1}`, ...
    pub(crate) fn f(&self, text: &'static str, filling: &[&dyn Display]) -> String {
        filled(self.t(text), filling)
    }

    pub(crate) fn language(&self) -> Language {
        self.0.look.language
    }

    pub(crate) fn look(&self) -> Look {
        self.0.look
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// What the person is called.
    pub(crate) fn name(&self) -> &str {
        &self.0.session.name
    }

    /// Whether somebody's roles let them do this: what they may not do is not offered.
    pub(crate) fn may(&self, action: Action) -> bool {
        !self.0.unchecked && self.0.caller.may(action)
    }

    /// The seller that the person is, if they are one.
    pub(crate) fn own_seller(&self) -> Option<&str> {
        self.0.caller.seller.as_deref().filter(|_| self.0.caller.roles.has(access::Role::Seller))
    }

    /// Whether they chose who to be, where everybody may be anybody.
    pub(crate) fn is_choice(&self) -> bool {
        self.0.session.shown == Shown::Choice
    }

    pub(crate) fn is_unchecked(&self) -> bool {
        self.0.unchecked
    }

    pub(crate) fn notice(&self) -> Option<&Notice> {
        self.0.notice.as_ref()
    }

    /// The path and the query that were asked for.
    pub(crate) fn here(&self) -> &str {
        self.0.uri.path_and_query().map_or("/console/", http::uri::PathAndQuery::as_str)
    }

    /// Whether it is asked for a page, which can be asked for again, and nothing is to be done.
    pub(crate) fn looks_only(&self) -> bool {
        self.0.looks_only
    }

    /// Now, by the clock of the machine.
    pub(crate) fn now(&self) -> Time {
        self.0.console.now()
    }

    /// Now, by the clock that offers and their stages live by: another one in a demo.
    pub(crate) fn now_of_offers(&self) -> Time {
        self.0.console.now_of_offers()
    }

    /// Calls a service in the name of the person.
    pub(crate) async fn call<Q: Message, A: Message>(
        &self,
        method: Method<Q, A>,
        question: &Q,
    ) -> Result<A, Failure> {
        let (services, question) = (self.0.console.services(), question.encode_to_vec());
        let asking = services::call(services, &self.0.caller, self.language(), method.name, question);
        let silent = |_| {
            let text = self.f("No answer within {0} seconds.", &[&CALL_TIME_MAX.as_secs()]);
            Failure::new(Kind::Unavailable, text)
        };
        method.read(&tokio::time::timeout(CALL_TIME_MAX, asking).await.map_err(silent)??)
    }

    /// Has a service do something in the name of the person. It goes on to its end however long anybody waits for it: Torg gives it minutes.
    pub(crate) async fn act<Q: Message, A: Message>(
        &self,
        method: Method<Q, A>,
        question: &Q,
    ) -> Result<A, Failure> {
        let (visit, name, question) = (self.clone(), method.name, question.encode_to_vec());
        let doing = tokio::spawn(async move {
            let (services, caller) = (visit.0.console.services(), &visit.0.caller);
            services::call(services, caller, visit.language(), name, question).await
        });
        match tokio::time::timeout(ACT_TIME_MAX, doing).await {
            Ok(Ok(done)) => method.read(&done?),
            Ok(Err(broken)) => Err(Failure::new(Kind::Broken, broken.to_string())),
            Err(_) => {
                let text =
                    self.t("It is not over yet, and goes on: the page Actions tells what comes of it.");
                Err(Failure::new(Kind::GoesOn, text))
            }
        }
    }

    /// Sends any request in the name of the person: files, in and out.
    pub(crate) async fn forward(&self, request: Request) -> Response {
        services::forward(self.0.console.services(), &self.0.caller, request).await
    }

    /// The token that forms of this person carry.
    pub(crate) fn form_token(&self) -> String {
        self.0.console.sealer().map(|sealer| sealer.form_token(&self.0.session)).unwrap_or_default()
    }

    /// What tells this person from another on a page.
    pub(crate) fn mark(&self) -> String {
        self.0.console.sealer().map(|sealer| sealer.mark(&self.0.session)).unwrap_or_default()
    }

    /// Whether a form was made for this person.
    pub(crate) fn made(&self, token: &str) -> bool {
        self.0.console.sealer().is_some_and(|sealer| sealer.is_form_of(&self.0.session, token))
    }

    /// A page with what came of the asking: what it shows, or why it cannot.
    pub(crate) fn page(&self, place: Place, title: &str, body: Result<Markup, Failure>) -> Response {
        let (status, body) = match body {
            Ok(body) => (StatusCode::OK, body),
            Err(failure) => (failure.kind.status(), view::failure(self, &failure)),
        };
        html(status, layout::page(self, place, title, &body))
    }

    /// The middle of the overview, if somebody else looked a moment ago. Only for those who may see it.
    pub(crate) fn shared_overview(&self) -> Option<Markup> {
        let may = self.0.caller.may(Action::SeeProcess);
        may.then(|| self.0.console.overview().get(self.audience(), self.now())).flatten()
    }

    /// Has it serve others, too.
    pub(crate) fn share_overview(&self, body: &Markup) {
        self.0.console.overview().put(self.audience(), self.now(), body);
    }

    /// Those who see the same overview.
    fn audience(&self) -> Audience {
        Audience { language: self.language(), topics: self.may(Action::UseTopics) }
    }

    /// After something was done, or not: back to a page, which tells it.
    pub(crate) fn done(&self, back: &str, outcome: Result<String, Failure>) -> Response {
        let notice = match outcome {
            Ok(text) => Notice { tone: Tone::Good, text },
            Err(Failure { kind: Kind::GoesOn, text }) => Notice { tone: Tone::Plain, text },
            Err(failure) => Notice { tone: Tone::Bad, text: failure.text },
        };
        let text = notice.text.chars().take(NOTICE_CHARS_MAX).collect();
        let mut answer = see(back);
        let sealed =
            self.0.console.sealer().and_then(|sealer| sealer.seal(NOTICE_COOKIE, &Notice { text, ..notice }));
        if let Some(sealed) = sealed {
            let keeping = Keeping { secure: self.0.look.secure, seconds: Some(60) };
            set_cookie(answer.headers_mut(), NOTICE_COOKIE, &sealed, keeping);
        }
        answer
    }

    /// A page that says why nothing was done.
    pub(crate) fn refused(&self, failure: &Failure) -> Response {
        self.page(Place::Nowhere, self.t("This was not done"), Err(failure.clone()))
    }

    /// The answer to a form that was not made for this session.
    pub(crate) fn forged(&self) -> Response {
        let why = self
            .t("This form is not from your session: nothing was done. Open the page again and repeat it.");
        self.refused(&Failure::new(Kind::Forbidden, why))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        parts.extensions.get::<Self>().cloned().ok_or_else(nobody)
    }
}

/// Nobody is known to ask: a route that does not stand behind [`admit`].
pub(crate) fn nobody() -> Response {
    html(StatusCode::INTERNAL_SERVER_ERROR, maud::html! { "internal error" })
}

/// A text with values in its places `{0}`, `{1}`, ... What a value holds is no place.
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

/// Finds out who asks, and lets them in or sends them to sign in.
pub(crate) async fn admit(State(console): State<Console>, mut request: Request, next: Next) -> Response {
    let look = Look::of(&console, request.headers());
    let Some(sealer) = console.sealer() else { return layout::starting(look) };
    let now = console.now();
    let known: Option<Session> =
        cookie(request.headers(), SESSION_COOKIE).and_then(|sealed| sealer.open(SESSION_COOKIE, sealed));
    let known = known.filter(|session| !session.is_over(now));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let judged = judge(&console, &shown(request.headers(), known.as_ref()), peer).await;
    let looks_only = matches!(*request.method(), Verb::GET | Verb::HEAD);
    let (caller, unchecked, permit) = match judged {
        Ok(admitted) => (admitted.caller, false, Some(admitted.permit)),
        Err(denial) => match (denial.code, &known) {
            (Code::Unavailable, Some(session)) if looks_only && session.holds_unchecked(now) => {
                (session.caller(), true, None)
            }
            (Code::Unauthenticated, _) => return layout::sign_in_first(look, &wanted(&request)),
            _ => return layout::denied(look, &denial),
        },
    };
    if caller.is_anonymous() {
        return layout::sign_in_first(look, &wanted(&request));
    }
    let is_choice = known.as_ref().is_some_and(|session| session.shown == Shown::Choice);
    let (session, fresh) = match known {
        // A choice counts only where everybody may be anybody.
        Some(session) if (caller.proof == access::Proof::Off) == is_choice => {
            match session.judged_again(&caller, now).filter(|_| !unchecked && !is_choice) {
                Some(renewed) => (renewed, true),
                None => (session, false),
            }
        }
        _ => match Session::of(sealer, &caller, Shown::Choice, now) {
            Some(session) => (session, true),
            None => return layout::starting(look),
        },
    };
    let caller = if is_choice && !fresh { session.caller() } else { caller };
    let cookie_of = fresh.then(|| sealer.seal(SESSION_COOKIE, &session)).flatten();
    let notice: Option<Notice> = cookie(request.headers(), NOTICE_COOKIE)
        .filter(|_| !look.live)
        .and_then(|sealed| sealer.open(NOTICE_COOKIE, sealed));
    let told = notice.is_some();
    let uri = request.uri().clone();
    let inner = Inner { console: console.clone(), caller, session, unchecked, look, notice, uri, looks_only };
    request.extensions_mut().insert(Visit(Arc::new(inner)));
    let mut answer = next.run(request).await;
    drop(permit);
    if let Some(sealed) = cookie_of {
        let keeping = Keeping { secure: look.secure, seconds: Some(SESSION_TIME_MAX.as_secs()) };
        set_cookie(answer.headers_mut(), SESSION_COOKIE, &sealed, keeping);
    }
    if told && !answer.status().is_redirection() {
        let gone = Keeping { secure: look.secure, seconds: Some(0) };
        set_cookie(answer.headers_mut(), NOTICE_COOKIE, "", gone);
    }
    answer::secured(answer)
}

/// What the gate says, if it says it in time: a key that it does not remember is looked up in the store, which may be away.
pub(crate) async fn judge(
    console: &Console,
    shown: &HeaderMap,
    peer: Option<IpAddr>,
) -> Result<Admitted, Denial> {
    let judged = tokio::time::timeout(GATE_TIME_MAX, console.gate().admit(shown, peer)).await;
    judged.unwrap_or_else(|_| Err(Denial::new(Code::Unavailable, "the store does not answer")))
}

/// Where somebody goes on who has to sign in first: to the page that they asked for, or from which they sent a form.
fn wanted(request: &Request) -> Uri {
    if matches!(*request.method(), Verb::GET | Verb::HEAD) {
        return request.uri().clone();
    }
    let from = request.headers().get(REFERER).and_then(|from| from.to_str().ok()?.parse::<Uri>().ok());
    let path =
        from.as_ref().and_then(Uri::path_and_query).map_or("/console/", http::uri::PathAndQuery::as_str);
    answer::inside(path).parse().unwrap_or_default()
}

/// What the gate has to see of a request: the host, where it came from, and what the person showed to sign in.
fn shown(headers: &HeaderMap, session: Option<&Session>) -> HeaderMap {
    let mut shown = HeaderMap::new();
    for name in [HOST, HeaderName::from_static("x-forwarded-for")] {
        for value in headers.get_all(&name) {
            shown.append(&name, value.clone());
        }
    }
    if let Some(Shown::Token(token)) = session.map(|session| &session.shown)
        && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}"))
    {
        value.set_sensitive(true);
        shown.insert(AUTHORIZATION, value);
    }
    shown
}

/// What the gate has to see of somebody who signs in with a token.
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
