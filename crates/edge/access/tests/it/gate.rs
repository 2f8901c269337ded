//! The gate as calls meet it: before a service over HTTP.

use crate::support;

use std::net::SocketAddr;

use access::{
    Allowance, ApiKeys, Caller, Config, Denial, Entropy, Gate, GateLayer, Mode, NewKey, Peer, Proof, Role,
    Roles,
};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use support::away::Away;
use support::{Hands, SECRET, Signer, claims, file, no_url, strict};
use tower::ServiceExt as _;

/// A gate with HS256 tokens and API keys, before a service that echoes the caller and the size of
/// the body.
struct Bench {
    gate: Gate,
    engine: Away,
    keys: ApiKeys,
    hands: Hands,
    service: Router,
}

impl Bench {
    fn new(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret = file(folder.path(), "secret", SECRET);
        let hands = Hands::new();
        let gate =
            Gate::new(&Config { hs256_secret_file: secret, ..config }, no_url(), hands.clock()).unwrap();
        let engine = Away::new();
        let keys = ApiKeys::new(engine.store(), hands.clock(), Entropy::system());
        let layer = GateLayer::new(gate.clone(), answer)
            .open(&["/healthz", "/open/"])
            .files(&["/files/"])
            .without_store(&["/metrics"]);
        let service = Router::new().fallback(who).layer(layer);
        Self { gate, engine, keys, hands, service }
    }

    async fn ask(&self, request: Request) -> (StatusCode, HeaderMap, String) {
        let Ok(answer) = self.service.clone().oneshot(request).await;
        let (parts, body) = answer.into_parts();
        let body = axum::body::to_bytes(body, 10_000).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn status(&self, request: Request) -> u16 {
        self.ask(request).await.0.as_u16()
    }
}

fn answer(denial: &Denial, _: &HeaderMap) -> Response {
    let mut answer = Response::new(Body::from(format!("{}: {}", denial.code.name(), denial.message)));
    *answer.status_mut() = denial.code.status();
    answer
}

async fn who(request: Request) -> Result<String, StatusCode> {
    assert!(!request.headers().contains_key(header::AUTHORIZATION), "the token has served its purpose");
    let caller = request.extensions().get::<Caller>().cloned();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await;
    let sent = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?.len();
    Ok(match caller {
        Some(caller) => format!("{} {:?} sent {sent}", caller.subject, caller.proof),
        None => "nobody was asked".to_owned(),
    })
}

fn call(headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder().uri("/x.Y/Z").body(Body::empty()).unwrap();
    request.extensions_mut().insert(Peer(SocketAddr::from(([203, 0, 113, 5], 40_000))));
    for (name, value) in headers {
        let name: http::HeaderName = name.parse().unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

fn with_token(token: &str) -> Request {
    call(&[("authorization", &format!("Bearer {token}"))])
}

fn token() -> String {
    Signer::hmac(SECRET).token("any", &claims())
}

#[tokio::test]
async fn with_access_off_everybody_on_this_machine_is_the_local_caller() {
    let bench = Bench::new(Config::default());
    assert_eq!(bench.ask(call(&[])).await.2, "local Off sent 0");
    assert_eq!(bench.ask(with_token("rubbish")).await.2, "local Off sent 0");
}

#[tokio::test]
async fn with_access_off_a_page_whose_name_was_pointed_here_is_refused() {
    let bench = Bench::new(Config::default());
    for here in ["localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
        assert_eq!(bench.status(call(&[("host", here)])).await, 200, "{here}");
    }
    for foreign in ["evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", "", "a b"] {
        assert_eq!(bench.status(call(&[("host", foreign)])).await, 403, "{foreign}");
    }
    for (address, status) in [("http://localhost:80/x.Y/Z", 200), ("http://evil.example/x.Y/Z", 403)] {
        let mut of_http_2 = call(&[]);
        *of_http_2.uri_mut() = address.parse().unwrap();
        assert_eq!(bench.status(of_http_2).await, status, "{address}");
    }
}

#[tokio::test]
async fn a_token_or_a_key_lets_its_caller_in() {
    let bench = Bench::new(strict());
    let (status, _, body) = bench.ask(with_token(&token())).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert!(body.starts_with("user-1 Token"), "{body}");
    assert_eq!(bench.status(call(&[("authorization", &format!("bearer  {}", token()))])).await, 200);

    let new =
        NewKey { name: "n".to_owned(), roles: Roles::NONE.with(Role::Service), seller: None, lifetime: None };
    let (info, text) = bench.keys.create(new).await.unwrap();
    let (status, _, body) = bench.ask(with_token(&text.expose())).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "the store is not open yet: {body}");
    bench.gate.open_api_keys(bench.keys.clone());
    assert!(bench.ask(with_token(&text.expose())).await.2.starts_with(&info.id));
    bench.keys.revoke(&info.id).await.unwrap();
    assert_eq!(bench.status(with_token(&text.expose())).await, 401);
}

#[tokio::test]
async fn only_what_is_said_to_last_is_answered_while_the_store_is_away() {
    let bench = Bench::new(strict());
    let new =
        NewKey { name: "n".to_owned(), roles: Roles::NONE.with(Role::Service), seller: None, lifetime: None };
    let text = bench.keys.create(new).await.unwrap().1.expose();
    bench.gate.open_api_keys(bench.keys.clone());
    let at = |path: &'static str| {
        let mut request = with_token(&text);
        *request.uri_mut() = path.parse().unwrap();
        bench.status(request)
    };
    assert_eq!(at("/metrics").await, 200);
    bench.engine.refuses();
    bench.hands.forward(10_000);
    assert_eq!((at("/metrics").await, at("/metrics/x").await, at("/x.Y/Z").await), (200, 503, 503));
    bench.engine.answers();
    assert_eq!(at("/x.Y/Z").await, 200);
}

#[tokio::test]
async fn api_keys_that_are_switched_off_are_not_believed() {
    let bench = Bench::new(Config { api_keys: false, ..strict() });
    let new =
        NewKey { name: "n".to_owned(), roles: Roles::NONE.with(Role::Admin), seller: None, lifetime: None };
    let text = bench.keys.create(new).await.unwrap().1;
    bench.gate.open_api_keys(bench.keys.clone());
    assert_eq!(bench.status(with_token(&text.expose())).await, 401);
}

#[tokio::test]
async fn missing_and_odd_credentials_are_refused_without_details() {
    let bench = Bench::new(strict());
    let (status, headers, body) = bench.ask(call(&[])).await;
    assert_eq!((status.as_u16(), body.as_str()), (401, "unauthenticated: this needs a bearer token"));
    assert_eq!(headers[header::WWW_AUTHENTICATE], "Bearer");
    let good = format!("Bearer {}", token());
    for wrong in [
        vec![("authorization", "Basic dXNlcjpwYXNz")],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Bearer x.y.z")],
        vec![("authorization", good.as_str()), ("authorization", good.as_str())],
        vec![("authorization", "Bearer torg_00000000_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
    ] {
        bench.hands.forward(60_000);
        bench.gate.open_api_keys(bench.keys.clone());
        let (status, _, body) = bench.ask(call(&wrong)).await;
        assert_eq!(
            (status.as_u16(), body.as_str()),
            (401, "unauthenticated: the token is not valid"),
            "{wrong:?}"
        );
    }
}

#[tokio::test]
async fn anonymous_callers_are_let_in_only_where_they_are_wanted() {
    let id = "0123456789abcdefghijklmnop";
    let bench = Bench::new(Config { anonymous: true, ..strict() });
    assert_eq!(bench.ask(call(&[])).await.2, " Nothing sent 0");
    let mut headers = HeaderMap::new();
    headers.insert(access::ANONYMOUS_HEADER, id.parse().unwrap());
    let caller = bench.gate.identify(&headers).await.unwrap();
    assert_eq!((caller.anonymous.as_ref().unwrap().expose(), caller.proof), (id, Proof::Nothing));
    headers.insert(header::AUTHORIZATION, format!("Bearer {}", token()).parse().unwrap());
    let caller = bench.gate.identify(&headers).await.unwrap();
    assert_eq!((caller.subject.as_str(), caller.anonymous.unwrap().expose()), ("user-1", id));

    assert_eq!(bench.status(call(&[(access::ANONYMOUS_HEADER, "short")])).await, 401);
    assert_eq!(bench.status(with_token("rubbish")).await, 401, "a wrong token does not make one anonymous");
    let closed = Bench::new(strict());
    assert_eq!(closed.status(call(&[(access::ANONYMOUS_HEADER, id)])).await, 401);
}

#[tokio::test]
async fn open_paths_need_no_credential() {
    let bench = Bench::new(strict());
    let request = Request::builder().uri("/healthz").body(Body::empty()).unwrap();
    assert_eq!(bench.ask(request).await.2, "nobody was asked");
    for (path, status) in [("/open/x", 200), ("/open", 401), ("/healthz/x", 401), ("/healthzz", 401)] {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        assert_eq!(bench.status(request).await, status, "{path}");
    }
}

#[tokio::test]
async fn files_are_as_large_as_they_are_and_their_callers_are_known() {
    let bench = Bench::new(tight(0, 0, 0));
    let file = |request: Request| {
        let mut request = request.map(|_| Body::from("0123456789 and more"));
        *request.uri_mut() = "/files/x".parse().unwrap();
        request
    };
    assert!(bench.ask(file(with_token(&token()))).await.2.ends_with("sent 19"));
    assert_eq!(bench.status(file(call(&[]))).await, 401);
}

fn tight(rate_per_s: u32, burst: u32, concurrent_max: u32) -> Config {
    let user = Allowance { rate_per_s, burst, concurrent_max, request_bytes_max: 10 };
    Config { user, unknown: user, ..strict() }
}

#[tokio::test]
async fn a_caller_who_asks_too_often_is_told_when_to_come_again() {
    let bench = Bench::new(tight(1, 2, 0));
    assert_eq!(bench.status(with_token(&token())).await, 200);
    assert_eq!(bench.status(with_token(&token())).await, 200);
    let (status, headers, body) = bench.ask(with_token(&token())).await;
    assert_eq!((status.as_u16(), headers[header::RETRY_AFTER].to_str().unwrap()), (429, "1"), "{body}");
    bench.hands.forward(1000);
    assert_eq!(bench.status(with_token(&token())).await, 200);
}

#[tokio::test]
async fn wrong_tokens_from_one_address_are_slowed_down_and_others_are_not() {
    let bench = Bench::new(Config { proxies: 1, ..tight(1, 3, 0) });
    let forged = |from: &str| call(&[("authorization", "Bearer a.b.c"), ("x-forwarded-for", from)]);
    for _ in 0..3 {
        assert_eq!(bench.status(forged("1.2.3.4, 198.51.100.1")).await, 401);
    }
    assert_eq!(
        bench.status(forged("9.9.9.9, 198.51.100.1")).await,
        429,
        "what the client wrote does not count"
    );
    assert_eq!(bench.status(forged("1.2.3.4, 198.51.100.2")).await, 401);
    assert_eq!(bench.status(forged("rubbish")).await, 401, "then it is the peer's address");
    let good =
        call(&[("authorization", &format!("Bearer {}", token())), ("x-forwarded-for", "198.51.100.1")]);
    assert_eq!(bench.status(good).await, 200);
}

#[tokio::test]
async fn without_proxies_a_forwarded_address_is_ignored() {
    let bench = Bench::new(tight(1, 1, 0));
    let forged = |from: &str| call(&[("authorization", "Bearer a.b.c"), ("x-forwarded-for", from)]);
    assert_eq!(bench.status(forged("1.1.1.1")).await, 401);
    assert_eq!(bench.status(forged("2.2.2.2")).await, 429);
}

#[tokio::test]
async fn a_call_runs_until_its_answer_was_read_or_dropped() {
    let bench = Bench::new(tight(0, 0, 1));
    let Ok(first) = bench.service.clone().oneshot(with_token(&token())).await;
    assert_eq!(bench.gate.running(), 1);
    assert_eq!(bench.status(with_token(&token())).await, 429);
    axum::body::to_bytes(first.into_body(), 1000).await.unwrap();
    let Ok(second) = bench.service.clone().oneshot(with_token(&token())).await;
    assert_eq!(second.status(), StatusCode::OK);
    drop(second);
    assert_eq!(bench.gate.running(), 0);
}

#[tokio::test]
async fn a_request_that_is_too_large_for_its_caller_is_refused_also_when_it_hides_its_size() {
    let bench = Bench::new(tight(0, 0, 0));
    let with_body = |body: Body| with_token(&token()).map(|_| body);
    assert!(bench.ask(with_body(Body::from("0123456789"))).await.2.ends_with("sent 10"));
    let (status, _, body) = bench.ask(with_body(Body::from("0123456789a"))).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(body, "resource_exhausted: the request is too large for this caller");
    let pieces = ["0123456789", "a"].map(Ok::<_, std::io::Error>);
    let streamed = Body::from_stream(futures::stream::iter(pieces));
    let (status, _, body) = bench.ask(with_body(streamed)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(body, "resource_exhausted: the request is too large for this caller");
}

#[test]
fn a_gate_without_anything_to_believe_is_not_built() {
    let config = Config { mode: Mode::Required, api_keys: false, ..Config::default() };
    assert!(Gate::new(&config, no_url(), Hands::new().clock()).is_err());
    let missing = Config { pem_file: "/nowhere/k.pem".into(), ..config };
    let error = Gate::new(&missing, no_url(), Hands::new().clock()).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/k.pem: "), "{error}");
}

#[tokio::test]
async fn neither_a_token_nor_a_secret_is_ever_shown() {
    let bench = Bench::new(strict());
    let text = token();
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, format!("Bearer {text}x").parse().unwrap());
    let refusal = bench.gate.identify(&headers).await.unwrap_err();
    let denial = bench.gate.admit(&headers, None).await.unwrap_err();
    headers.insert(header::AUTHORIZATION, format!("Bearer {text}").parse().unwrap());
    let admitted = bench.gate.admit(&headers, None).await.unwrap();
    let shown = format!("{refusal} {refusal:?} {denial:?} {admitted:?} {:?}", bench.gate);
    let secret = std::str::from_utf8(SECRET).unwrap();
    for part in text.split('.').chain([secret]) {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
}
