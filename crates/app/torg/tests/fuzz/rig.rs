//! A running process, calls to it, and the requirements on every response.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::common::described::{Described, Method};
use crate::common::wire::{Protocol, Reply, Wire, framed};
use crate::counted::Counted;
use crate::valid::{self, Things};

/// Codes that say whose fault a failure is: the caller's, or that of no side.
const CLEAR: [&str; 12] = [
    "ok",
    "invalid_argument",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "unauthenticated",
    "deadline_exceeded",
];

/// A long poll; calls to it get a short timeout.
const PATIENT: &str = "/torg.topics.v1.TopicService/ReadMessages";

pub(crate) struct Rig {
    pub(crate) server: Counted,
    pub(crate) described: Described,
    pub(crate) methods: Vec<Method>,
}

/// A connection to a rig, and how its calls ended.
pub(crate) struct Line<'a> {
    rig: &'a Rig,
    wire: Wire,
    pub(crate) ends: BTreeMap<String, u64>,
    /// Unclear responses, one of each kind.
    pub(crate) faults: BTreeMap<String, String>,
}

impl Rig {
    pub(crate) fn start(environment: &[(&str, &str)]) -> Rig {
        let settings = [
            ("TORG_STORE_DURABILITY", "os"),
            ("TORG_STORE_CACHE_MB", "8"),
            // Tests make no requests to the internet.
            ("TORG_STAGES_BUILT_IN", "expiry,evolution,photo_order,price"),
            ("TORG_FEEDS_ALLOW_HOSTS", "127.0.0.1"),
        ];
        let described = Described::new();
        let server = Counted::start(&[&settings[..], environment].concat());
        Rig { server, methods: described.methods(), described }
    }

    pub(crate) async fn line(&self) -> Line<'_> {
        Line {
            rig: self,
            wire: Wire::connect(self.server.address).await,
            ends: BTreeMap::new(),
            faults: BTreeMap::new(),
        }
    }

    /// The process is alive and ready, and its log has no errors and no panics.
    pub(crate) fn assert_sound(&mut self) {
        assert!(self.server.runs(), "the process has ended");
        let ready = self.server.get("/readyz");
        assert_eq!(ready.status, 200, "{ready:?}");
        let regrets = |line: &&String| line.contains("panic") || line.contains("\"level\":\"ERROR\"");
        let log = self.server.log_so_far();
        let regrets: Vec<&String> = log.iter().filter(regrets).collect();
        assert!(regrets.is_empty(), "{regrets:#?}");
    }
}

impl Line<'_> {
    /// Sends any call and records an unclear response.
    pub(crate) async fn send(
        &mut self,
        path: &str,
        content_type: &str,
        headers: &[(&str, &str)],
        body: Bytes,
        what: &str,
    ) -> Reply {
        if self.wire.is_closed() {
            self.reconnect().await;
        }
        let shown = body.slice(..body.len().min(2000));
        let timeouts = [("connect-timeout-ms", "300"), ("grpc-timeout", "300m")];
        let headers = [headers, if path == PATIENT { &timeouts } else { &[] }].concat();
        let reply = self.wire.call(path, content_type, &headers, body).await;
        let told = || format!("{what}: {path} as {content_type} with {headers:?} and {shown:?}");
        let reply = reply.unwrap_or_else(|error| panic!("{error}: {}", told()));
        if !is_clear(&reply, path) {
            let kind: String =
                format!("{path} {} {}", reply.code(), reply.text()).chars().take(200).collect();
            self.faults.entry(kind).or_insert_with(told);
        }
        *self.ends.entry(reply.code()).or_default() += 1;
        reply
    }

    pub(crate) async fn reconnect(&mut self) {
        self.wire = Wire::connect(self.rig.server.address).await;
    }

    /// A message of a method in one of the protocols.
    pub(crate) async fn message(
        &mut self,
        method: &Method,
        protocol: Protocol,
        message: Vec<u8>,
        what: &str,
    ) -> Reply {
        let body = if protocol.frames(method.streams) { framed(&message) } else { message.into() };
        self.send(&method.path, protocol.content_type(method.streams), &[], body, what).await
    }

    /// A call in JSON that has to succeed.
    pub(crate) async fn ask(&mut self, path: &str, request: &Value) -> Value {
        let method = self.rig.described.method(path);
        let reply =
            self.message(&method, Protocol::Json, request.to_string().into_bytes(), "a right call").await;
        assert_eq!(reply.code(), "ok", "{path} {request}: {}", reply.text());
        serde_json::from_slice(reply.message()).unwrap()
    }

    /// Creates objects for requests to refer to.
    pub(crate) async fn things(&mut self) -> Things {
        let offers = "/torg.offers.v1.OfferService";
        let made = [self.make().await, self.make().await];
        let change = json!({"offer": {"id": made[0], "title": "BMW"}, "updateMask": "title"});
        self.ask(&format!("{offers}/UpdateOffer"), &change).await;
        let mut things = Things { offer: made[0].clone(), ..Things::default() };
        let draft =
            self.ask("/torg.offers.v1.DraftService/OpenDraft", &json!({"owner": {"seller": "ann"}})).await;
        things.draft = text(&draft["draft"]["id"]);
        let list = "/torg.offers.v1.CabinetService/ListOffers";
        things.page_token = text(&self.ask(list, &valid::request(list, &things)).await["nextPageToken"]);
        let history = format!("{offers}/GetHistory");
        things.history_token =
            text(&self.ask(&history, &valid::request(&history, &things)).await["nextPageToken"]);
        let watch = format!("{offers}/WatchOffers");
        things.resume_token = text(&self.ask(&watch, &valid::request(&watch, &things)).await["resumeToken"]);
        let topic = "/torg.topics.v1.TopicService/CreateTopic";
        self.ask(topic, &valid::request(topic, &things)).await;
        things
    }

    async fn make(&mut self) -> String {
        let path = "/torg.offers.v1.OfferService/CreateOffer";
        text(&self.ask(path, &valid::request(path, &Things::default())).await["offer"]["id"])
    }

    /// Everything that was accepted can be read.
    pub(crate) async fn read_back(&mut self, offer: &Value) {
        let (id, seller) = (&offer["id"], &offer["seller"]);
        let offers = "/torg.offers.v1.OfferService";
        for call in ["GetOffer", "GetHistory", "ExplainOffer", "GetBilling"] {
            self.ask(&format!("{offers}/{call}"), &json!({ "id": id })).await;
        }
        self.ask("/torg.offers.v1.ModerationService/GetModeration", &json!({ "id": id })).await;
        for call in ["ListOffers", "GetCounts", "GetCounters"] {
            self.ask(&format!("/torg.offers.v1.CabinetService/{call}"), &json!({ "seller": seller })).await;
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a response is well-formed and says whose fault a failure is.
fn is_clear(reply: &Reply, path: &str) -> bool {
    let code = reply.code();
    // The protocols require these: in gRPC a compressed message without a named compression, in
    // Connect unsupported types and verbs.
    if code == "internal" && reply.text().contains("received compressed message without") {
        return true;
    }
    if matches!(reply.status, 405 | 415) {
        return true;
    }
    let known = CLEAR.contains(&&*code) && (code != "deadline_exceeded" || path == PATIENT);
    let status = reply.status < 500
        || (reply.status == 501 && code == "unimplemented")
        || (reply.status == 504 && code == "deadline_exceeded");
    known && status
}
