//! The client against a local HTTP server.

use std::sync::{Arc, Mutex, OnceLock};

use geo::{Geocoder, Hints, Places, Point};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Duration, Instant};

use super::{Nominatim, NominatimOptions};

fn places() -> Arc<Places> {
    static PLACES: OnceLock<Arc<Places>> = OnceLock::new();
    PLACES.get_or_init(|| Arc::new(Places::builtin().unwrap())).clone()
}

/// Sends scripted responses in order and records the requests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

async fn serve(answers: Vec<(u16, String)>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/geo/", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = requests.clone();
    tokio::spawn(async move {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut piece = [0; 1024];
                let count = stream.read(&mut piece).await.unwrap();
                assert!(count > 0, "the request ended early");
                request.extend_from_slice(&piece[..count]);
            }
            recorded.lock().unwrap().push(String::from_utf8(request).unwrap());
            let status_line = format!(
                "HTTP/1.1 {status} Any\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(status_line.as_bytes()).await.unwrap();
            stream.write_all(body.as_bytes()).await.unwrap();
        }
    });
    Server { url, requests }
}

fn geocoder(url: &str) -> Nominatim {
    let user_agent = "test of torg".to_owned();
    let options = NominatimOptions { interval: Duration::ZERO, user_agent, ..NominatimOptions::new(url) };
    Nominatim::new(options, places()).unwrap()
}

const NEVSKY: &str = r#"[{"lat": "59.9343", "lon": "30.3351", "importance": 0.4, "display_name": "Nevsky",
    "address": {"city": "Санкт-Петербург", "state": "Санкт-Петербург", "country_code": "ru"}}]"#;

#[tokio::test]
async fn an_address_becomes_a_point_with_the_id_of_a_built_in_place() {
    let server = serve(vec![(200, NEVSKY.to_owned())]).await;
    let found =
        geocoder(&server.url).find("Невский пр., 1", Hints { country: Some("RU"), region: None }).await;
    let found = found.unwrap().unwrap();
    assert_eq!((found.place_id.as_str(), found.country.as_str()), ("498817", "RU"));
    assert!((found.point.latitude - 59.9343).abs() < 1e-9);
    let requests = server.requests.lock().unwrap()[0].to_lowercase();
    assert!(
        requests.starts_with("get /geo/search?format=jsonv2&addressdetails=1&accept-language=ru%2cen&q="),
        "{requests}"
    );
    assert!(requests.contains("user-agent: test of torg"), "{requests}");
}

#[tokio::test]
async fn the_sellers_country_decides_between_namesakes_only() {
    let hit = |lat: f64, lon: f64, importance: f64, code: &str| {
        format!(
            r#"{{"lat": "{lat}", "lon": "{lon}", "importance": {importance}, "address": {{"city": "London", "country_code": "{code}"}}}}"#
        )
    };
    let near = format!("[{}, {}]", hit(51.5, -0.12, 0.6, "gb"), hit(42.98, -81.25, 0.5, "ca"));
    let far = format!("[{}, {}]", hit(51.5, -0.12, 0.9, "gb"), hit(42.98, -81.25, 0.5, "ca"));
    let server = serve(vec![(200, near.clone()), (200, near), (200, far)]).await;
    let geocoder = geocoder(&server.url);
    let canada = Hints { country: Some("CA"), region: None };
    let mut countries = Vec::new();
    for (address, hints) in [("London", Hints::default()), ("London", canada), ("London, England", canada)] {
        countries.push(geocoder.find(address, hints).await.unwrap().unwrap().country);
    }
    assert_eq!(countries, ["GB", "CA", "GB"]);
}

#[tokio::test]
async fn an_address_is_requested_once() {
    let server = serve(vec![(200, NEVSKY.to_owned()), (200, "[]".to_owned())]).await;
    let geocoder = geocoder(&server.url);
    for _ in 0..3 {
        assert!(geocoder.find("Невский пр., 1", Hints::default()).await.unwrap().is_some());
        assert!(geocoder.find("nowhere", Hints::default()).await.unwrap().is_none());
    }
    assert_eq!(server.requests.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_point_is_located_and_kept() {
    let answer = r#"{"lat": "55.9", "lon": "37.4", "address": {"town": "Химки", "country_code": "ru"}}"#;
    let server =
        serve(vec![(200, answer.to_owned()), (200, r#"{"error": "Unable to geocode"}"#.to_owned())]).await;
    let geocoder = geocoder(&server.url);
    let point = Point::new(55.891_23, 37.444_56).unwrap();
    let found = geocoder.locate(point).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.point), ("Khimki", point));
    assert!(geocoder.locate(Point::new(-60.0, -120.0).unwrap()).await.unwrap().is_none());
    assert!(server.requests.lock().unwrap()[0].contains("/geo/reverse?"));
}

#[tokio::test]
async fn failures_say_whether_they_pass() {
    let long = format!("[{}]", " ".repeat(300 * 1024));
    let answers = [
        (503, String::new()),
        (429, String::new()),
        (200, "<html>".to_owned()),
        (403, String::new()),
        (200, long),
    ];
    let server = serve(answers.to_vec()).await;
    let geocoder = geocoder(&server.url);
    for (number, passing) in [true, true, true, false, false].into_iter().enumerate() {
        let error = geocoder.find("Berlin", Hints::default()).await.unwrap_err();
        assert_eq!(error.is_passing(), passing, "{number}: {error}");
    }
    let gone = geocoder.find("Berlin", Hints::default()).await.unwrap_err();
    assert!(gone.is_passing(), "connection refused: {gone}");
}

#[tokio::test(start_paused = true)]
async fn requests_keep_their_interval() {
    // Nothing listens there; only the times of the requests count.
    let mut options = NominatimOptions::new("http://127.0.0.1:9");
    options.interval = Duration::from_secs(1);
    let geocoder = Nominatim::new(options, places()).unwrap();
    let start = Instant::now();
    for number in 0..4 {
        assert!(geocoder.find(&format!("street {number}"), Hints::default()).await.is_err());
    }
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(3), "{took:?}");
}

#[test]
fn an_address_that_is_no_url_is_refused() {
    for url in ["", "nominatim", "ftp://host", "http://"] {
        let error = Nominatim::new(NominatimOptions::new(url), places()).err().unwrap();
        assert!(!error.is_passing(), "{url}: {error}");
    }
}
