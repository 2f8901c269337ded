//! A file is handed in by a form, and goes on piece by piece.

use crate::fake_torg as torg;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use access::Role;
use async_trait::async_trait;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use console::Services;
use futures::StreamExt as _;
use http::{Method, Request, StatusCode, header};
use torg::{Fake, Person, Site, console_over, sign_in};
use tower::ServiceExt as _;

const PAGE: &str = "/console/feeds/ann/shop";
const UPLOAD: &str = "feeds/ann/shop/upload";
const KIND: &str = "multipart/form-data; boundary=XX";

fn field(name: &str, more: &str, value: &str) -> String {
    format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{value}\r\n")
}

fn file(text: &str) -> String {
    field("file", "; filename=\"a.xml\"\r\nContent-Type: text/xml", text)
}

async fn send(person: &Person<'_>, form: String) -> torg::Page {
    person.send(Method::POST, &format!("{PAGE}/upload"), KIND, Body::from(form), "").await
}

fn site() -> Site {
    let taken = r#"{"seller":"ann","namespace":"shop","number":"8"}"#;
    Site::new(Fake::default().serves(UPLOAD, StatusCode::ACCEPTED, "application/json", taken))
}

#[tokio::test]
async fn a_file_goes_on_to_the_feed_as_it_is_and_its_load_is_shown() {
    let site = site();
    let ann = site.person(Role::Seller, "ann").await;
    let text = "<yml>\r\n--X\r\n-- XX не граница</yml>";
    let form = format!("{}{}--XX--\r\n", field("form_token", "", &ann.token().await), file(text));
    let done = send(&ann, form).await;
    assert_eq!(done.sent_to(), format!("{PAGE}/loads/8"));
    assert_eq!(ann.told(&done).await, "The file was accepted as load 8.");
    let heard = site.services.heard(UPLOAD);
    assert_eq!((heard.len(), &*heard[0].body), (1, text.as_bytes()));
    assert_eq!(heard[0].subject, "local seller");
}

#[tokio::test]
async fn a_form_that_comes_in_one_large_piece_is_taken_too() {
    let site = site();
    let ann = site.person(Role::Seller, "ann").await;
    let text = "x".repeat(2 << 20);
    let form = format!("{}{}--XX--\r\n", field("form_token", "", &ann.token().await), file(&text));
    assert_eq!(send(&ann, form).await.sent_to(), format!("{PAGE}/loads/8"));
    assert_eq!(site.services.heard(UPLOAD)[0].body.len(), text.len());
}

#[tokio::test]
async fn without_the_token_before_it_no_byte_of_a_file_goes_anywhere() {
    let site = site();
    let ann = site.person(Role::Seller, "ann").await;
    let token = field("form_token", "", &ann.token().await);
    let end = "--XX--\r\n";
    for form in [
        format!("{}{end}", file("x")),
        format!("{}{token}{end}", file("x")),
        format!("{}{}{end}", field("form_token", "", "wrong"), file("x")),
        end.to_owned(),
    ] {
        assert_eq!(send(&ann, form.clone()).await.status, StatusCode::FORBIDDEN, "{form}");
    }
    for form in [format!("{token}{end}"), "no form at all".to_owned(), token.clone()] {
        assert_eq!(send(&ann, form.clone()).await.status, StatusCode::BAD_REQUEST, "{form}");
    }
    let long = format!("{token}{}{}{end}", field("other", "", &"o".repeat(9 << 20)), file("x"));
    assert_eq!(send(&ann, long).await.status, StatusCode::BAD_REQUEST);
    let endless = format!("{}{}{end}", field("form_token", "", &"t".repeat(2000)), file("x"));
    assert_eq!(send(&ann, endless).await.status, StatusCode::BAD_REQUEST);
    let plain = ann.post(&format!("{PAGE}/upload"), "file=x").await;
    assert_eq!(plain.status, StatusCode::BAD_REQUEST);
    assert!(site.services.heard(UPLOAD).is_empty());
}

#[tokio::test]
async fn what_the_feed_says_against_a_file_is_told() {
    let said = r#"{"code":"resource_exhausted","message":"the file is larger than 1 MiB"}"#;
    let kind = "application/json";
    let site = Site::new(Fake::default().serves(UPLOAD, StatusCode::PAYLOAD_TOO_LARGE, kind, said));
    let ann = site.person(Role::Seller, "ann").await;
    let form = format!("{}{}--XX--\r\n", field("form_token", "", &ann.token().await), file("x"));
    let done = send(&ann, form).await;
    assert_eq!(done.sent_to(), PAGE);
    assert_eq!(ann.told(&done).await, "the file is larger than 1 MiB");
}

const PIECE: usize = 64 * 1024;
const PIECES: usize = 1024;

/// Takes a file in slowly, or leaves it after a while, and notes how far ahead of it the sender is.
struct Slow {
    sent: Arc<AtomicUsize>,
    ahead_most: AtomicUsize,
    takes: usize,
}

#[async_trait]
impl Services for Slow {
    async fn send(&self, request: Request<Body>) -> Response {
        let mut pieces = request.into_body().into_data_stream();
        let mut taken = 0;
        while let Some(piece) = pieces.next().await {
            taken += piece.unwrap().len();
            self.ahead_most.fetch_max(self.sent.load(Ordering::SeqCst) - taken, Ordering::SeqCst);
            if taken >= self.takes {
                break;
            }
            tokio::task::yield_now().await;
        }
        let (status, said) = if taken == PIECE * PIECES {
            (StatusCode::ACCEPTED, r#"{"number":"1"}"#)
        } else {
            (StatusCode::BAD_REQUEST, r#"{"code":"invalid_argument","message":"no more"}"#)
        };
        Response::builder().status(status).body(Body::from(said)).unwrap()
    }
}

/// Sends a large file, all of which is ready to be sent at once; the answer, how far it was ahead,
/// and how much was sent.
async fn large(takes: usize) -> (StatusCode, String, usize, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let slow = Arc::new(Slow { sent: Arc::clone(&sent), ahead_most: AtomicUsize::new(0), takes });
    let pages = console_over(Arc::clone(&slow) as Arc<dyn Services>);
    let cookie = sign_in(&pages, Role::Admin, "").await;
    let request = |verb: Method, path: &str| {
        Request::builder()
            .method(verb)
            .uri(path)
            .header(header::HOST, "localhost")
            .header(header::COOKIE, &cookie)
            .header(header::CONTENT_TYPE, KIND)
    };
    let page = request(Method::GET, "/console/none").body(Body::empty()).unwrap();
    let page = pages.clone().oneshot(page).await.unwrap();
    let page = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
    let page = String::from_utf8(page.to_vec()).unwrap();
    let token =
        page.split_once("name=\"form_token\" value=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let head = field("form_token", "", &token) + file("").strip_suffix("\r\n").unwrap();
    let counted = Arc::clone(&sent);
    let file = futures::stream::iter(0..PIECES).map(move |_| {
        counted.fetch_add(PIECE, Ordering::SeqCst);
        Bytes::from(vec![b'x'; PIECE])
    });
    let begin = futures::stream::iter([Bytes::from(head)]);
    let end = futures::stream::iter([Bytes::from_static(b"\r\n--XX--\r\n")]);
    let form = begin.chain(file).chain(end).map(Ok::<Bytes, std::io::Error>);
    let upload = request(Method::POST, &format!("{PAGE}/upload")).body(Body::from_stream(form)).unwrap();
    let answer = pages.oneshot(upload).await.unwrap();
    let place = answer.headers().get(header::LOCATION).map(|place| place.to_str().unwrap().to_owned());
    let ahead = slow.ahead_most.load(Ordering::SeqCst);
    (answer.status(), place.unwrap_or_default(), ahead, sent.load(Ordering::SeqCst))
}

#[tokio::test]
async fn of_a_large_file_only_a_few_pieces_are_held_at_any_moment() {
    let (status, place, ahead, sent) = large(usize::MAX).await;
    assert_eq!((status, &*place), (StatusCode::SEE_OTHER, "/console/feeds/ann/shop/loads/1"));
    assert_eq!(sent, PIECE * PIECES);
    assert!(ahead <= 4 * PIECE, "{ahead} bytes were held");
}

#[tokio::test]
async fn the_rest_of_a_file_that_is_refused_is_taken_in_so_that_the_browser_hears_why() {
    let (status, place, _, sent) = large(PIECE * 3).await;
    assert_eq!((status, &*place), (StatusCode::SEE_OTHER, PAGE));
    assert_eq!(sent, PIECE * PIECES);
}
