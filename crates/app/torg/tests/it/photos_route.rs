//! `/photos/...`: serves photos to browsers and caches, and no other file of the disk.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use crate::common::{Answer, Server};

/// The beginning of a JPEG: not valid text.
const BYTES: &[u8] = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00 and so on \xff\xd9";

/// The file name of a photo.
fn path() -> String {
    format!("ab/ab{}/0123abcd-800.jpg", "0".repeat(62))
}

/// A server whose file store has one photo.
fn server_with_a_photo() -> Server {
    let server = Server::start(&[]);
    let file = server.folder.path().join("data/files").join(path());
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, BYTES).unwrap();
    server
}

fn ask(server: &Server, method: &str, path: &str, header: &str) -> Answer {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}\r\n");
    server.ask(&head)
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_photo_is_served_once_and_kept_by_caches() {
    let server = server_with_a_photo();
    let url = format!("/photos/{}", path());
    let got = ask(&server, "GET", &url, "");
    assert_eq!((got.status, &*got.bytes), (200, BYTES), "{got:?}");
    assert_eq!(header(&got, "content-type"), Some("image/jpeg"));
    assert_eq!(header(&got, "cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(header(&got, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&got, "content-length"), Some(&*BYTES.len().to_string()));
    let tag = header(&got, "etag").unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");

    let looked = ask(&server, "HEAD", &url, "");
    assert_eq!((looked.status, &*looked.bytes), (200, &b""[..]));
    for name in ["content-type", "content-length", "cache-control", "etag"] {
        assert_eq!(header(&looked, name), header(&got, name), "{name}");
    }
    for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let unchanged = ask(&server, "GET", &url, &format!("if-none-match: {known}\r\n"));
        assert_eq!((unchanged.status, &*unchanged.bytes), (304, &b""[..]), "{known}");
        assert_eq!(header(&unchanged, "etag"), Some(tag), "{known}");
        assert_eq!(header(&unchanged, "cache-control"), header(&got, "cache-control"), "{known}");
    }
    let other = ask(&server, "GET", &url, "if-none-match: \"other\"\r\n");
    assert_eq!((other.status, &*other.bytes), (200, BYTES));
}

#[test]
fn nothing_but_photos_can_be_had_whatever_the_path() {
    let server = server_with_a_photo();
    // The target of a path traversal.
    std::fs::write(server.folder.path().join("data/secret.jpg"), "secret").unwrap();
    std::fs::write(server.folder.path().join("data/files/secret.jpg"), "secret").unwrap();
    let path = path();
    let no_such = path.replace("-800", "-801");
    let elsewhere = path.replacen("ab/", "cd/", 1);
    let encoded = path.replace('/', "%2f");
    let paths = [
        no_such.as_str(),
        &elsewhere,
        "",
        "secret.jpg",
        "../secret.jpg",
        "..%2fsecret.jpg",
        "%2e%2e/secret.jpg",
        "%2e%2e%2fsecret.jpg",
        "..%252fsecret.jpg",
        "..%5csecret.jpg",
        "ab/../secret.jpg",
        "ab/..%2f../secret.jpg",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "ab%00/x.jpg",
        "%ff%fe",
        &path.to_uppercase(),
        &format!("{path}%00"),
        &format!("{path}/"),
        &format!("{path}/.."),
        &format!("./{path}"),
    ];
    for path in paths {
        let got = ask(&server, "GET", &format!("/photos/{path}"), "");
        assert!(matches!(got.status, 400 | 404), "{path}: {got:?}");
        assert!(!got.body.contains("secret") && !got.body.contains("root:"), "{path}: {got:?}");
        assert_eq!(header(&got, "content-type"), Some("application/json"), "{path}: {got:?}");
        assert_eq!(header(&got, "cache-control"), None, "{path}: a cache must ask again");
    }
    // The same name in another encoding is the same file.
    let same = ask(&server, "GET", &format!("/photos/{encoded}"), "");
    assert!(same.status == 404 || same.bytes == BYTES, "{same:?}");
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(ask(&server, method, &format!("/photos/{path}"), "content-length: 0\r\n").status, 405);
    }
}

#[test]
fn without_the_stages_for_photos_there_are_none() {
    let server = Server::start(&[("TORG_STAGES_BUILT_IN", "expiry")]);
    let got = ask(&server, "GET", &format!("/photos/{}", path()), "");
    assert_eq!(got.status, 404, "{got:?}");
}
