//! A marketplace with a few offers of ann and bob, and calls to it.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use super::table::Caller;
use crate::access::guarded;
use crate::access::issuer::Issuer;
use crate::common::Server;
use crate::common::described::Described;
use crate::common::wire::{Protocol, Reply, Wire, framed};

/// The objects of a call.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) offer: String,
    pub(super) draft: String,
    pub(super) seller: String,
}

impl Target {
    /// Valid ids of objects that do not exist.
    pub(super) fn nobodys() -> Target {
        Target { offer: "4829175033168090".into(), draft: "4829175033168090".into(), seller: "zed".into() }
    }
}

pub(super) struct Market {
    server: Server,
    issuer: Issuer,
    wire: Wire,
    described: Described,
}

impl Market {
    pub(super) async fn open() -> Market {
        let settings = [
            ("TORG_ACCESS_ANONYMOUS", "true"),
            ("TORG_ACCESS_UNKNOWN_RATE_PER_S", "0"),
            ("TORG_ACCESS_USER_RATE_PER_S", "0"),
            ("TORG_ACCESS_SERVICE_RATE_PER_S", "0"),
            ("TORG_STORE_URL", "memory:"),
        ];
        let (server, issuer) = guarded(&settings);
        let wire = Wire::connect(server.address).await;
        Market { server, issuer, wire, described: Described::new() }
    }

    pub(super) fn token(&self, subject: &str, roles: &[&str], seller: Option<&str>) -> String {
        self.issuer.token_of(subject, roles, seller)
    }

    /// A call by one of the callers of the tables.
    pub(super) async fn call(
        &mut self,
        path: &str,
        caller: &Caller,
        protocol: Protocol,
        request: &Value,
    ) -> Reply {
        let token = caller.roles.map(|roles| self.token(caller.name, roles, caller.seller));
        self.call_with(path, token.as_deref(), caller.anonymous, protocol, request).await
    }

    pub(super) async fn call_with(
        &mut self,
        path: &str,
        token: Option<&str>,
        anonymous: Option<&str>,
        protocol: Protocol,
        request: &Value,
    ) -> Reply {
        let method = self.described.method(path);
        let bytes = match protocol {
            Protocol::Json => request.to_string().into_bytes(),
            _ => self.described.encode(&method, request),
        };
        let body = if protocol.frames(method.streams) { framed(&bytes) } else { bytes.into() };
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers: Vec<(&str, &str)> = vec![("te", "trailers")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        headers.extend(anonymous.map(|anonymous| ("x-torg-anonymous", anonymous)));
        if self.wire.is_closed() {
            self.wire = Wire::connect(self.server.address).await;
        }
        self.wire.call(path, protocol.content_type(method.streams), &headers, body).await.unwrap()
    }

    /// A call that has to succeed.
    pub(super) async fn ask(&mut self, token: &str, path: &str, request: Value) -> Value {
        let path = format!("/torg.{path}");
        let reply = self.call_with(&path, Some(token), None, Protocol::Json, &request).await;
        assert_eq!(reply.code(), "ok", "{path}: {}", reply.text());
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// Uploads a file that is no feed.
    pub(super) async fn upload(&mut self, token: Option<&str>, path: &str) -> Reply {
        self.plain("POST", token, path, "no feed at all").await
    }

    pub(super) async fn get(&mut self, token: Option<&str>, path: &str) -> Reply {
        self.plain("GET", token, path, "").await
    }

    /// A plain HTTP request, without RPC.
    async fn plain(&mut self, method: &str, token: Option<&str>, path: &str, body: &'static str) -> Reply {
        let mut request = Request::builder().method(method).uri(format!("http://localhost{path}"));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if self.wire.is_closed() {
            self.wire = Wire::connect(self.server.address).await;
        }
        self.wire.send(request.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap()).await.unwrap()
    }

    /// A new offer and a complete draft of ann.
    pub(super) async fn target(&mut self) -> Target {
        let ann = self.token("ann", &["seller"], Some("ann"));
        let made = self.ask(&ann, "offers.v1.OfferService/CreateOffer", json!({"offer": car("ann")})).await;
        let opened =
            self.ask(&ann, "offers.v1.DraftService/OpenDraft", json!({"category": "transport/cars"}));
        let draft = text(&opened.await["draft"]["id"]);
        let filled = json!({"draft": {"id": draft, "offer": car("")}});
        self.ask(&ann, "offers.v1.DraftService/UpdateDraft", filled).await;
        Target { offer: text(&made["offer"]["id"]), draft, seller: "ann".into() }
    }

    /// All data of ann and bob that can be read.
    pub(super) async fn state(&mut self, target: &Target) -> BTreeMap<String, Value> {
        let admin = self.token("admin", &["admin", "service"], None);
        let mut state = BTreeMap::new();
        for path in [
            "OfferService/GetOffer",
            "OfferService/GetHistory",
            "OfferService/GetBilling",
            "ModerationService/GetModeration",
        ] {
            let found = self.ask(&admin, &format!("offers.v1.{path}"), json!({"id": target.offer})).await;
            state.insert(path.to_owned(), found);
        }
        for seller in ["ann", "bob"] {
            for path in ["ListOffers", "GetCounts", "GetCounters"] {
                let call = format!("offers.v1.CabinetService/{path}");
                let found = self.ask(&admin, &call, json!({"seller": seller})).await;
                state.insert(format!("{path} {seller}"), found);
            }
        }
        let draft = json!({"owner": {"seller": "ann"}});
        state.insert("draft".into(), self.ask(&admin, "offers.v1.DraftService/OpenDraft", draft).await);
        state.insert("topics".into(), self.ask(&admin, "topics.v1.TopicService/ListTopics", json!({})).await);
        state
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A valid offer.
pub(super) fn car(seller: &str) -> Value {
    let attributes = [
        ("car-make", "bmw"),
        ("vehicle-model", "320i"),
        ("year", "2019"),
        ("mileage", "64000"),
        ("body", "sedan"),
        ("fuel", "petrol"),
        ("gearbox", "automatic"),
    ];
    let attributes: BTreeMap<&str, Value> =
        attributes.into_iter().map(|(name, value)| (name, json!({"values": [value]}))).collect();
    json!({
        "seller": seller, "category": "transport/cars", "title": "BMW 320i", "condition": "CONDITION_USED",
        "price": {"fixed": {"micros": "18500000000", "currency": "EUR"}}, "attributes": attributes,
    })
}
