//! Photos are served at `/photos/...`, from any file store.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use crate::common::Server;
use testkit::S3;

/// A file name in the form of a photo's.
fn path() -> String {
    format!("ab/{}/0123abcd-800.jpg", "ab".repeat(32))
}

/// Requests a photo that exists and some that do not.
fn served(server: &Server) {
    let path = path();
    let found = server.get(&format!("/photos/{path}"));
    assert_eq!((found.status, &*found.body), (200, "a photo"), "{found:?}");
    assert!(found.head.contains("cache-control: public, max-age=31536000, immutable"), "{found:?}");
    let tag = found.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let asked = format!(
        "GET /photos/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nif-none-match: {tag}\r\n\r\n"
    );
    assert_eq!(server.ask(&asked).status, 304);
    for missing in [path.replace("-800", "-801"), "../torg.toml".to_owned(), "secret.txt".to_owned()] {
        assert_eq!(server.get(&format!("/photos/{missing}")).status, 404, "{missing}");
    }
}

#[test]
fn photos_are_served_from_a_folder() {
    let server = Server::start(&[]);
    let file = server.folder.path().join("data/files").join(path());
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "a photo").unwrap();
    std::fs::write(server.folder.path().join("data/files/secret.txt"), "a secret").unwrap();
    served(&server);
}

#[test]
fn photos_are_served_from_what_speaks_s3() {
    let s3 = S3::start().unwrap();
    s3.files().insert(format!("bucket/photos/{}", path()), b"a photo".to_vec());
    s3.files().insert("bucket/photos/secret.txt".to_owned(), b"a secret".to_vec());
    let environment = s3.environment();
    let mut variables: Vec<_> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
    variables.push(("TORG_FILES_URL", "s3://bucket/photos"));
    served(&Server::start(&variables));
}
