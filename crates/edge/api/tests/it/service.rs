//! The services through a real server: over gRPC and in JSON, with a caller from the gate.

use crate::common;

use std::net::SocketAddr;

use access::{Caller, Role};
use bytes::Bytes;
use common::{ann, caller, car, open};
use connectrpc::client::{ClientConfig, HttpClient};
use connectrpc::{ConnectRpcService, ErrorCode, Protocol, Router};
use http_body_util::{BodyExt as _, Full};
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use wire::torg::offers::v1::__buffa::oneof::watch_offers_response::Event;
use wire::torg::offers::v1::{
    CreateOfferRequest, GetOfferRequest, MoveOfferRequest, OfferServiceClient, Status, WatchOffersRequest,
    WatchOffersResponse,
};

type Client = OfferServiceClient;

/// Serves calls of this caller, or without one.
async fn serve(market: api::Market, caller: Option<Caller>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = TowerToHyperService::new(ConnectRpcService::new(api::register(Router::new(), &market)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (service, caller) = (service.clone(), caller.clone());
            let gated = service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
                caller.clone().into_iter().for_each(|caller| drop(request.extensions_mut().insert(caller)));
                service.call(request)
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), gated)
                    .await;
            });
        }
    });
    address
}

fn client(address: SocketAddr) -> Client {
    let config =
        ClientConfig::new(format!("http://{address}").parse().unwrap()).with_protocol(Protocol::Grpc);
    Client::new(HttpClient::plaintext_http2_only(), config)
}

fn create() -> CreateOfferRequest {
    CreateOfferRequest { offer: car().into(), ..CreateOfferRequest::default() }
}

/// The answers of a watch up to the one that is wanted.
async fn watch_until(
    client: &Client,
    request: WatchOffersRequest,
    wanted: impl Fn(&Event) -> bool,
) -> Vec<WatchOffersResponse> {
    let mut stream = client.watch_offers(request).await.unwrap();
    let mut heard = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        let is_wanted = message.event.as_ref().is_some_and(&wanted);
        heard.push(message);
        if is_wanted {
            return heard;
        }
    }
    panic!("it ended after {heard:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_tells_current_offers_and_then_changes_and_goes_on_from_its_token() {
    let client = client(serve(open().await, Some(ann())).await);
    let id = client.create_offer(create()).await.unwrap().offer.id.clone();
    let heard =
        watch_until(&client, WatchOffersRequest::default(), |event| matches!(event, Event::CaughtUp(_)))
            .await;
    let [current, caught_up] = &heard[..] else { panic!("{heard:?}") };
    assert!(matches!(&current.event, Some(Event::Current(offer)) if offer.id == id));

    let sold = MoveOfferRequest { id: id.clone(), to: Status::Sold.into(), ..MoveOfferRequest::default() };
    client.move_offer(sold).await.unwrap();
    let resume =
        WatchOffersRequest { resume_token: caught_up.resume_token.clone(), ..WatchOffersRequest::default() };
    let is_sale = |event: &Event| matches!(event, Event::Change(change) if change.version == 2);
    let heard = watch_until(&client, resume.clone(), is_sale).await;
    let Some(Event::Change(change)) = &heard.last().unwrap().event else { panic!("{heard:?}") };
    assert_eq!(
        (&change.id, &*change.author.name, change.offer.status.as_known()),
        (&id, "ann", Some(Status::Sold))
    );

    let wrong = WatchOffersRequest { resume_token: "nonsense".into(), ..resume.clone() };
    let mut refused = client.watch_offers(wrong).await;
    let error = match &mut refused {
        Err(error) => error.clone(),
        Ok(stream) => stream.message().await.err().unwrap(),
    };
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}

#[tokio::test]
async fn a_request_that_passed_no_gate_is_not_served() {
    let client = client(serve(open().await, None).await);
    let error = client.create_offer(create()).await.err().unwrap();
    assert_eq!(error.code, ErrorCode::Internal);
    assert_eq!(error.message.unwrap(), "internal error");
}

#[tokio::test]
async fn the_same_service_speaks_json_with_a_mask_in_one_text() {
    let market = open().await;
    let seller = client(serve(market.clone(), Some(ann())).await);
    let id = seller.create_offer(create()).await.unwrap().offer.id.clone();
    let address = serve(market, Some(caller(Role::Support, None))).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = serde_json::json!({ "id": id, "readMask": "title,price.fixed.currency,attributes.carMake" })
        .to_string();
    let request = http::Request::post("/torg.offers.v1.OfferService/GetOffer")
        .header("host", "torg")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    let expected = serde_json::json!({ "offer": {
        "title": "BMW 320i",
        "price": { "fixed": { "currency": "EUR" } },
        "attributes": { "car-make": { "values": ["bmw"] } },
    } });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn errors_of_unary_calls_come_with_their_code() {
    let client = client(serve(open().await, Some(caller(Role::Support, None))).await);
    let error = client.create_offer(create()).await.err().unwrap();
    assert_eq!(error.code, ErrorCode::InvalidArgument, "support has to name a seller");
    let missing = GetOfferRequest { id: "4829-1750-3316-8090".into(), ..GetOfferRequest::default() };
    assert_eq!(client.get_offer(missing).await.err().unwrap().code, ErrorCode::NotFound);
}
