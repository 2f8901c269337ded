//! A console over services that answer what a test says, and a person who looks at it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use access::{Caller, Config, Gate, HttpsFetch};
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::Response;
use buffa::Message;
use clock::{Clock, Time};
use console::{Console, Dependencies, Sealer, Services};
use http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{Request, StatusCode};
use tower::ServiceExt as _;

/// What texts from outside look like in tests: nothing of it may become markup.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>";

/// An answer of a service, or its error with a code and a text.
type Answer = Result<Vec<u8>, (&'static str, String)>;
type Method = Box<dyn Fn(&[u8]) -> Answer + Send + Sync>;

/// Services by method, as in `OfferService/GetOffer`. All others are away.
#[derive(Default)]
pub(crate) struct Fake {
    methods: BTreeMap<&'static str, Method>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// A call that was made.
#[derive(Clone)]
pub(crate) struct Heard {
    pub(crate) method: String,
    pub(crate) request: Vec<u8>,
}

impl Fake {
    /// Always answers so.
    #[must_use]
    pub(crate) fn with<A: Message>(self, method: &'static str, answer: &A) -> Self {
        let bytes = answer.encode_to_vec();
        self.method(method, Box::new(move |_| Ok(bytes.clone())))
    }

    /// Answers by what is asked; an error has a code and a text.
    #[must_use]
    pub(crate) fn by<Q: Message, A: Message>(
        self,
        method: &'static str,
        answer: impl Fn(Q) -> Result<A, (&'static str, &'static str)> + Send + Sync + 'static,
    ) -> Self {
        let answer = move |request: &[u8]| {
            let answer = answer(Q::decode_from_slice(request).unwrap());
            answer.map(|answer| answer.encode_to_vec()).map_err(|(code, text)| (code, text.to_owned()))
        };
        self.method(method, Box::new(answer))
    }

    fn method(mut self, name: &'static str, method: Method) -> Self {
        self.methods.insert(name, method);
        self
    }

    /// A console over it.
    pub(crate) fn open(self) -> Open {
        let heard = Arc::clone(&self.heard);
        let clock = Clock::new(|| Time::from_seconds(1_794_832_205));
        let gate = Gate::new(&Config::default(), Arc::new(HttpsFetch::default()), clock.clone()).unwrap();
        let sealer = Arc::new(OnceLock::new());
        sealer.set(Sealer::new(&[7; 32])).unwrap();
        let parts =
            Dependencies { gate, services: Arc::new(self), sealer, world: clock.clone(), clock, tls: false };
        Open { router: Console::new(parts).routes(), heard }
    }
}

#[async_trait]
impl Services for Fake {
    async fn send(&self, request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        let method = path.rsplit('.').next().unwrap_or_default().to_owned();
        let request = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        assert!(parts.extensions.get::<Caller>().is_some(), "every call has a caller");
        let answer = match self.methods.get(&*method) {
            Some(answer) => answer(&request),
            None => Err(("unavailable", format!("{method} is away"))),
        };
        self.heard.lock().unwrap().push(Heard { method, request });
        match answer {
            Ok(bytes) => Response::new(Body::from(bytes)),
            Err((code, message)) => {
                let said = serde_json::json!({"code": code, "message": message}).to_string();
                let mut answer = Response::new(Body::from(said));
                *answer.status_mut() = StatusCode::BAD_REQUEST;
                answer
            }
        }
    }
}

/// A console, and what its services heard.
pub(crate) struct Open {
    router: Router,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// A signed-in visitor.
pub(crate) struct Person<'a> {
    open: &'a Open,
    cookie: String,
}

/// A page as it came.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) place: String,
    pub(crate) text: String,
}

impl Open {
    pub(crate) async fn admin(&self) -> Person<'_> {
        self.sign_in("as=admin").await
    }

    pub(crate) async fn support(&self) -> Person<'_> {
        self.sign_in("as=support").await
    }

    pub(crate) async fn moderator(&self) -> Person<'_> {
        self.sign_in("as=moderator").await
    }

    pub(crate) async fn seller(&self, name: &str) -> Person<'_> {
        self.sign_in(&format!("as=seller&seller={name}")).await
    }

    async fn sign_in(&self, what: &str) -> Person<'_> {
        let request = Request::get(format!("/console/sign-in?{what}"));
        let answer = self.ask(request.header(HOST, "localhost").body(Body::empty()).unwrap()).await;
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
        Person { open: self, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    async fn ask(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// What a method was asked last.
    pub(crate) fn asked<Q: Message>(&self, method: &str) -> Option<Q> {
        let heard = self.heard.lock().unwrap();
        let last = heard.iter().rev().find(|heard| heard.method == method);
        last.map(|heard| Q::decode_from_slice(&heard.request).unwrap())
    }

    /// How often a method was called.
    pub(crate) fn calls(&self, method: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|heard| heard.method == method).count()
    }
}

impl Person<'_> {
    pub(crate) async fn get(&self, path: &str) -> Page {
        self.send(Request::get(path), Body::empty()).await
    }

    /// Sends a form with the token that the page at `from` gave.
    pub(crate) async fn post(&self, from: &str, path: &str, fields: &str) -> Page {
        let page = self.get(from).await;
        let token = page.text.split("name=\"form_token\" value=\"").nth(1).unwrap();
        let token = token.split('"').next().unwrap().to_owned();
        self.post_bare(path, &format!("form_token={token}&{fields}")).await
    }

    /// Sends a form as it is.
    pub(crate) async fn post_bare(&self, path: &str, fields: &str) -> Page {
        let request = Request::post(path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request, Body::from(fields.to_owned())).await
    }

    async fn send(&self, request: http::request::Builder, body: Body) -> Page {
        let request = request.header(HOST, "localhost").header(COOKIE, &self.cookie).body(body).unwrap();
        let answer = self.open.ask(request).await;
        let place = answer.headers().get(LOCATION).map(|place| place.to_str().unwrap().to_owned());
        let status = answer.status();
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        Page { status, place: place.unwrap_or_default(), text: String::from_utf8(text.to_vec()).unwrap() }
    }
}

impl Page {
    /// Whether the page shows this text.
    pub(crate) fn shows(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// Fails unless the page shows all of these, and none of those.
    #[track_caller]
    pub(crate) fn check(&self, shown: &[&str], hidden: &[&str]) {
        for text in shown {
            assert!(self.shows(text), "{text:?} is missing in {}", self.text);
        }
        for text in hidden {
            assert!(!self.shows(text), "{text:?} is in {}", self.text);
        }
        assert!(!self.shows(SCRIPT), "a text of others became markup: {}", self.text);
        for inline in [" style=", " onclick=", "<style", "<script>"] {
            assert!(!self.shows(inline), "{inline} in {}", self.text);
        }
    }
}
