//! What the server promises beyond the contract.

use std::sync::Arc;
use std::time::Duration;

use ::wire_stages::torg::offers::v1::Offer;
use ::wire_stages::torg::stages::v1::__buffa::oneof::answer::Change;
use ::wire_stages::torg::stages::v1::{ProcessRequest, StageServiceClient};
use connectrpc::Protocol;
use connectrpc::client::{ClientConfig, HttpClient};
use stagekit::{Answer, Description, Error, Failure, Options, Server, Stage, Subject, wire};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};

/// Does what an offer's title says.
struct Obedient {
    id: &'static str,
    begun: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[stagekit::async_trait]
impl Stage for Obedient {
    fn describe(&self) -> Description {
        Description::new(self.id, "1")
    }

    async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
        match subject.offer.title.as_str() {
            "panic" => panic!("no colour"),
            "error" => Err("x".parse::<u8>().unwrap_err().into()),
            "long" => Err(Failure::Passing("é".repeat(5000))),
            "wait" => {
                self.begun.add_permits(1);
                let _ = self.go_on.acquire().await;
                Ok(Answer::untouched())
            }
            _ => Ok(Answer::untouched()),
        }
    }
}

fn obedient(id: &'static str) -> Obedient {
    Obedient { id, begun: Arc::new(Semaphore::new(0)), go_on: Arc::new(Semaphore::new(0)) }
}

fn options() -> Options {
    Options { address: "127.0.0.1:0".to_owned(), ..Options::default() }
}

fn client(server: &Server) -> StageServiceClient {
    let uri = format!("http://{}", server.address()).parse().unwrap();
    let config = ClientConfig::new(uri).with_protocol(Protocol::Grpc);
    StageServiceClient::new(HttpClient::plaintext_http2_only(), config)
}

fn request(titles: &[&str]) -> ProcessRequest {
    let subject = |title: &&str| {
        let offer = Offer { id: (*title).to_owned(), title: (*title).to_owned(), ..Offer::default() };
        wire::Subject { offer: offer.into(), ..wire::Subject::default() }
    };
    let subjects = titles.iter().map(subject).collect();
    ProcessRequest { stage: "obedient".to_owned(), subjects, ..ProcessRequest::default() }
}

#[tokio::test]
async fn panics_and_errors_of_one_offer_are_passing_failures_of_that_offer() {
    let server = Server::bind(vec![Arc::new(obedient("obedient"))], options()).await.unwrap();
    let client = client(&server);
    let running = tokio::spawn(server.run(std::future::pending()));
    let answers = client.process(request(&["good", "panic", "error", "long"])).await.unwrap().answers;
    let failures: Vec<(&str, Option<&str>)> = answers
        .iter()
        .map(|answer| match &answer.change {
            Some(Change::Failure(failure)) if !failure.lasting => {
                (answer.id.as_str(), Some(&*failure.message))
            }
            _ => (answer.id.as_str(), None),
        })
        .collect();
    let long = "é".repeat(1000);
    let expected = [
        ("good", None),
        ("panic", Some("panic: no colour")),
        ("error", Some("invalid digit found in string")),
        ("long", Some(long.as_str())),
    ];
    assert_eq!(failures, expected);
    running.abort();
}

#[tokio::test]
async fn a_call_that_runs_ends_before_the_server_does() {
    let stage = obedient("obedient");
    let (begun, go_on) = (Arc::clone(&stage.begun), Arc::clone(&stage.go_on));
    let server = Server::bind(vec![Arc::new(stage)], options()).await.unwrap();
    let (client, address) = (client(&server), server.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));
    let calling = tokio::spawn(async move { client.process(request(&["wait"])).await });
    begun.acquire().await.unwrap().forget();
    stop.send(()).unwrap();
    // It hears of the end when it gets a turn; from then on nobody else is let in. So many times
    // give a server that does not wait the turns to end.
    while TcpStream::connect(address).await.is_ok() {}
    for _ in 0..1000 {
        assert!(TcpStream::connect(address).await.is_err());
    }
    assert!(!running.is_finished());
    go_on.add_permits(1);
    assert_eq!(calling.await.unwrap().unwrap().answers.len(), 1);
    running.await.unwrap();
}

#[tokio::test]
async fn a_call_that_takes_longer_than_the_grace_is_cut() {
    let stage = obedient("obedient");
    let begun = Arc::clone(&stage.begun);
    let options = Options { grace: Duration::ZERO, ..options() };
    let server = Server::bind(vec![Arc::new(stage)], options).await.unwrap();
    let client = client(&server);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));
    let calling = tokio::spawn(async move { client.process(request(&["wait"])).await });
    begun.acquire().await.unwrap().forget();
    stop.send(()).unwrap();
    running.await.unwrap();
    assert!(calling.await.unwrap().is_err());
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_at_once() {
    let refused: [(Vec<Arc<dyn Stage>>, &str); 3] = [
        (vec![], "no stage to serve"),
        (vec![Arc::new(obedient("no spaces"))], "letters, digits, - and _"),
        (vec![Arc::new(obedient("one")), Arc::new(obedient("one"))], "two stages with the id one"),
    ];
    for (stages, why) in refused {
        let Err(error) = Server::bind(stages, options()).await else { panic!("not refused: {why}") };
        assert!(error.to_string().contains(why), "{error}");
    }
    let empty = Options { token: Some(String::new()), ..options() };
    assert!(matches!(Server::bind(vec![Arc::new(obedient("one"))], empty).await, Err(Error::Setup(_))));
    let taken = Server::bind(vec![Arc::new(obedient("one"))], options()).await.unwrap();
    let same = Options { address: taken.address().to_string(), ..options() };
    assert!(matches!(Server::bind(vec![Arc::new(obedient("one"))], same).await, Err(Error::Listen { .. })));
}
