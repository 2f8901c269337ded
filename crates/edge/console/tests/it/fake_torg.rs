//! A console before services that answer as a test tells them, and people who look at it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use access::{Caller, Config, Gate, HttpsFetch, Role};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use buffa::Message;
use clock::{Clock, Time};
use console::{Console, Dependencies, Sealer, Services};
use http::{Method, Request, StatusCode, header};
use tower::ServiceExt as _;

/// What time it is.
pub(crate) const NOW_MS: i64 = 1_794_832_205_000;

type Answering = Box<dyn Fn(&Caller, &[u8]) -> Result<Vec<u8>, (&'static str, String)> + Send + Sync>;

/// A request that came to the services.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// Without the slash before it.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) subject: String,
}

/// Services that answer by the name of the method. Those that a test says nothing of are away.
#[derive(Default)]
pub(crate) struct Fake {
    answers: BTreeMap<&'static str, Answering>,
    /// What stands at other paths: the status, the kind, the body.
    files: BTreeMap<&'static str, (StatusCode, &'static str, &'static str)>,
    heard: Mutex<Vec<Heard>>,
}

impl Fake {
    /// Answers a method always with the same.
    pub(crate) fn says(self, method: &'static str, answer: &impl Message) -> Self {
        let bytes = answer.encode_to_vec();
        self.answers_with(method, move |_, _| Ok(bytes.clone()))
    }

    /// Answers a method as it is asked.
    pub(crate) fn hears<Q: Message, A: Message>(
        self,
        method: &'static str,
        answer: impl Fn(&Caller, Q) -> A + Send + Sync + 'static,
    ) -> Self {
        self.answers_with(method, move |caller, body| {
            Ok(answer(caller, Q::decode_from_slice(body).unwrap()).encode_to_vec())
        })
    }

    /// Refuses a method with this code and text.
    pub(crate) fn refuses(self, method: &'static str, code: &'static str, text: &'static str) -> Self {
        self.answers_with(method, move |_, _| Err((code, text.to_owned())))
    }

    /// Answers a path beside the methods.
    pub(crate) fn serves(
        mut self,
        path: &'static str,
        status: StatusCode,
        kind: &'static str,
        body: &'static str,
    ) -> Self {
        self.files.insert(path, (status, kind, body));
        self
    }

    fn answers_with(
        mut self,
        method: &'static str,
        answer: impl Fn(&Caller, &[u8]) -> Result<Vec<u8>, (&'static str, String)> + Send + Sync + 'static,
    ) -> Self {
        self.answers.insert(method, Box::new(answer));
        self
    }

    /// Everything that came to a method, or to a path.
    pub(crate) fn heard(&self, name: &str) -> Vec<Heard> {
        self.heard.lock().unwrap().iter().filter(|heard| heard.path.ends_with(name)).cloned().collect()
    }

    /// The one message that came to a method.
    pub(crate) fn asked<Q: Message>(&self, method: &str) -> Q {
        let heard = self.heard(method);
        assert_eq!(heard.len(), 1, "{method}");
        Q::decode_from_slice(&heard[0].body).unwrap()
    }
}

#[async_trait]
impl Services for Fake {
    async fn send(&self, request: Request<Body>) -> Response {
        let caller = request.extensions().get::<Caller>().cloned().unwrap();
        assert!(request.extensions().get::<console::FromConsole>().is_some());
        let path = request.uri().path_and_query().unwrap().as_str().trim_start_matches('/').to_owned();
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await;
        let body = body.unwrap_or_default().to_vec();
        let heard = Heard { path: path.clone(), body: body.clone(), subject: caller.subject.clone() };
        self.heard.lock().unwrap().push(heard);
        if let Some((status, kind, body)) = self.files.get(&*path) {
            return answer(*status, kind, (*body).into());
        }
        // Two services have a method of one name: it is told by the service before it.
        let method = path.rsplit('.').next().unwrap_or_default();
        let name = method.rsplit('/').next().unwrap_or_default();
        let known = self.answers.get(method).or_else(|| self.answers.get(name));
        let said = known
            .map_or_else(|| Err(("unavailable", format!("{name} is away"))), |answer| answer(&caller, &body));
        match said {
            Ok(body) => answer(StatusCode::OK, "application/proto", body),
            Err((code, text)) => {
                let text = serde_json::json!({"code": code, "message": text}).to_string();
                answer(StatusCode::BAD_REQUEST, "application/json", text.into())
            }
        }
    }
}

fn answer(status: StatusCode, kind: &str, body: Vec<u8>) -> Response {
    Response::builder().status(status).header(header::CONTENT_TYPE, kind).body(Body::from(body)).unwrap()
}

/// A console, and the services behind it.
pub(crate) struct Site {
    pub(crate) services: Arc<Fake>,
    pages: Router,
}

/// A page as it came.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Page {
    /// Where the browser is sent.
    pub(crate) fn sent_to(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.text);
        self.headers[header::LOCATION].to_str().unwrap()
    }

    pub(crate) fn has(&self, part: &str) -> bool {
        self.text.contains(part)
    }
}

/// A signed-in visitor.
pub(crate) struct Person<'s> {
    site: &'s Site,
    cookie: String,
}

impl Site {
    pub(crate) fn new(services: Fake) -> Self {
        let services = Arc::new(services);
        Self { pages: console_over(Arc::clone(&services) as Arc<dyn Services>), services }
    }

    /// Signs a visitor in. A seller has this name.
    pub(crate) async fn person(&self, role: Role, seller: &str) -> Person<'_> {
        let cookie = sign_in(&self.pages, role, seller).await;
        Person { site: self, cookie }
    }

    pub(crate) async fn admin(&self) -> Person<'_> {
        self.person(Role::Admin, "").await
    }

    pub(crate) async fn support(&self) -> Person<'_> {
        self.person(Role::Support, "").await
    }
}

/// A console over any services.
pub(crate) fn console_over(services: Arc<dyn Services>) -> Router {
    let clock = Clock::new(|| Time::from_ms(NOW_MS));
    let gate = Gate::new(&Config::default(), Arc::new(HttpsFetch::default()), clock.clone()).unwrap();
    let sealer = Arc::new(OnceLock::from(Sealer::new(&[7; 32])));
    Console::new(Dependencies { gate, services, sealer, world: clock.clone(), clock, tls: false }).routes()
}

/// The cookie of a visitor in this role.
pub(crate) async fn sign_in(pages: &Router, role: Role, seller: &str) -> String {
    let form = format!("as={}&seller={seller}", role.name());
    let request = Request::post("/console/sign-in")
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(form))
        .unwrap();
    let answer = pages.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

impl Person<'_> {
    /// Looks at a page.
    pub(crate) async fn get(&self, path: &str) -> Page {
        self.send(Method::GET, path, "", Body::empty(), "").await
    }

    /// Looks at a page in Russian.
    pub(crate) async fn get_in_russian(&self, path: &str) -> Page {
        self.send(Method::GET, path, "", Body::empty(), "; torg_language=ru").await
    }

    /// Sends a form with the token of this person.
    pub(crate) async fn post(&self, path: &str, fields: &str) -> Page {
        let token = self.token().await;
        self.post_as_is(path, &format!("form_token={token}&{fields}")).await
    }

    /// Sends a form with nothing but these fields.
    pub(crate) async fn post_as_is(&self, path: &str, fields: &str) -> Page {
        let body = Body::from(fields.to_owned());
        self.send(Method::POST, path, "application/x-www-form-urlencoded", body, "").await
    }

    /// The token that forms of this person carry: every page has it.
    pub(crate) async fn token(&self) -> String {
        let page = self.get("/console/no-such-page").await;
        let (_, rest) = page.text.split_once("name=\"form_token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// What the next page tells of what was done.
    pub(crate) async fn told(&self, done: &Page) -> String {
        let cookies = done.headers.get_all(header::SET_COOKIE).iter();
        let mut cookies = cookies.filter_map(|cookie| cookie.to_str().unwrap().split(';').next());
        let notice = cookies.find(|cookie| cookie.starts_with("torg_notice=")).unwrap().to_owned();
        let page =
            self.send(Method::GET, "/console/no-such-page", "", Body::empty(), &format!("; {notice}")).await;
        let (_, rest) = page.text.split_once("role=\"status\">").unwrap();
        rest.split('<').next().unwrap().to_owned()
    }

    pub(crate) async fn send(&self, verb: Method, path: &str, kind: &str, body: Body, more: &str) -> Page {
        let request = Request::builder()
            .method(verb)
            .uri(path)
            .header(header::HOST, "localhost")
            .header(header::COOKIE, format!("{}{more}", self.cookie))
            .header(header::CONTENT_TYPE, kind)
            .body(body)
            .unwrap();
        let answer = self.site.pages.clone().oneshot(request).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        Page { status, headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }
}
