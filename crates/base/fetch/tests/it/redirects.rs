//! Every redirect is a new URL.

use fetch::{Cause, Rules};
use tokio::io::AsyncWriteExt;

use crate::world::{World, answer, moved, whole};

fn world() -> World {
    let world = World::default();
    world.name("example.com", &[&["93.184.216.34"]]);
    world
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_private_address_is_refused_in_every_spelling() {
    for (place, code) in [
        ("http://127.0.0.1/", "private_address"),
        ("//10.0.0.1/admin", "private_address"),
        ("http://[::ffff:192.168.0.1]/", "private_address"),
        ("http://2130706433/", "odd_address"),
        ("http://inside.example.com/", "private_address"),
        ("http://example.com:22/", "port"),
        ("file:///etc/passwd", "scheme"),
        ("ftp://example.com/", "scheme"),
        ("http://user:pass@example.com/", "user_info"),
        ("http://exa mple/", "bad_url"),
        ("", "redirect_nowhere"),
    ] {
        let world = world();
        world.name("inside.example.com", &[&["127.0.0.1"]]).says("93.184.216.34:80", moved(place));
        assert_eq!(world.refusal("http://example.com/photo.jpg").await, code, "{place}");
        assert_eq!(world.dialled().len(), 1, "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn relative_redirects_are_followed() {
    let world = world();
    world.server("93.184.216.34:80", |head, mut pipe| async move {
        let bytes = if head.starts_with("GET /a/b ") {
            moved("../c")
        } else {
            assert!(head.starts_with("GET /c "), "{head}");
            answer("200 OK", b"c")
        };
        pipe.write_all(&bytes).await.unwrap();
    });
    assert_eq!(world.get("http://example.com/a/b").await.unwrap(), b"c");
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_redirects_ends() {
    let world = world();
    world.server("93.184.216.34:80", |head, mut pipe| async move {
        let step: u32 = head[5..head.find(" HTTP").unwrap()].parse().unwrap();
        pipe.write_all(&moved(&format!("/{}", step + 1))).await.unwrap();
    });
    let error = world.get("http://example.com/0").await.unwrap_err();
    assert_eq!(error.cause, Cause::TooManyRedirects(Rules::default().redirects_max));
    assert_eq!(world.dialled().len(), 1 + Rules::default().redirects_max as usize);
    assert!(!error.is_passing());
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_redirects_is_noticed() {
    let world = world();
    world.server("93.184.216.34:80", |head, mut pipe| async move {
        let place = if head.starts_with("GET /a ") { "/b" } else { "/a#again" };
        pipe.write_all(&moved(place)).await.unwrap();
    });
    assert_eq!(world.refusal("http://example.com/a").await, "redirect_loop");
    assert_eq!(world.dialled().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_out_of_the_allowed_hosts_is_refused() {
    let world = world();
    world.name("other.org", &[&["93.184.216.35"]]).says("93.184.216.34:80", moved("http://other.org/"));
    let rules = Rules { allow_hosts: vec!["example.com".to_owned()], ..Rules::default() };
    let error = whole(&world.client(rules), &fetch::Request::get("http://example.com/")).await.unwrap_err();
    assert_eq!(error.cause, Cause::HostDenied("other.org".to_owned()));
}
