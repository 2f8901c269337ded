//! API keys: created, listed and revoked by the command, used over JSON and gRPC, kept over a
//! restart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Fjall, Schema, StoreOptions};

use crate::access::{GET_INFO, HOUR_S, LIST_KEYS, grpc_code, guarded, json_code};
use crate::common::{Ended, PATIENCE, Server, run, torg};

const REQUIRED: (&str, &str) = ("TORG_ACCESS_MODE", "required");

fn torg_run(folder: &tempfile::TempDir, arguments: &[&str], token: Option<&str>) -> Ended {
    let mut command = torg(folder, arguments);
    if let Some(token) = token {
        command.env("TORG_TOKEN", token);
    }
    run(command)
}

/// The key that `torg keys add` prints, and nothing else on stdout.
fn made(ended: &Ended) -> String {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let key = ended.stdout.strip_suffix('\n').unwrap();
    assert!(key.starts_with("torg_") && !key.contains('\n'), "{}", ended.stdout);
    key.to_owned()
}

fn id(key: &str) -> &str {
    key.split('_').nth(1).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_key_is_made_on_the_store_and_survives_restarts() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = made(&torg_run(&folder, &["keys", "add", "the first", "--role", "admin"], None));
    for _ in 0..2 {
        let server = Server::start_in(&folder, &[REQUIRED]);
        assert_eq!(json_code(&server, LIST_KEYS, Some(&key)), "ok");
        assert_eq!(grpc_code(&server, LIST_KEYS, Some(&key)).await, "ok");
        server.stop();
    }
    let listed = torg_run(&folder, &["keys", "list"], None).stdout;
    let line = listed.lines().nth(1).unwrap();
    assert!(line.starts_with(&format!("{}  admin  ", id(&key))) && line.contains("  valid  20"), "{listed}");
    assert!(line.ends_with("  the first") && !line.contains("never"), "it was used: {listed}");
    assert!(!listed.contains(key.rsplit('_').next().unwrap()), "the secret is not kept: {listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_key_can_be_made_through_a_process_with_access_off() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let open = Server::start_in(&folder, &[]);
    let url = open.url();
    let key = made(&torg_run(&folder, &["keys", "add", "first", "--role", "admin", "--server", &url], None));
    open.stop();
    let server = Server::start_in(&folder, &[REQUIRED]);
    assert_eq!(json_code(&server, GET_INFO, Some(&key)), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_listed_and_revoked_through_a_running_process_by_an_admin() {
    let (server, issuer) = guarded(&[]);
    let (folder, url) = (&server.folder, server.url());
    let admin = issuer.token(&["admin"], HOUR_S);
    let ask = |arguments: &[&str], token: Option<&str>| {
        torg_run(folder, &[arguments, &["--server", &url]].concat(), token)
    };
    let shop =
        ["keys", "add", "shop", "--role", "seller", "--role", "service", "--seller", "s7", "--days", "9"];
    let key = made(&ask(&shop, Some(&admin)));
    assert_eq!(json_code(&server, "/torg.topics.v1.TopicService/ListTopics", Some(&key)), "ok");
    assert_eq!(json_code(&server, LIST_KEYS, Some(&key)), "permission_denied");

    for (token, error, hint) in [
        (None, "this needs a bearer token", "TORG_TOKEN"),
        (Some("torg_rubbish"), "the token is not valid", "TORG_TOKEN"),
        (Some(key.as_str()), "the roles of this caller do not suffice", "another role"),
    ] {
        for arguments in [&["keys", "list"][..], &["keys", "revoke", id(&key)], &shop] {
            let ended = ask(arguments, token);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
            assert!(ended.stderr.contains(error) && ended.stderr.contains(hint), "{}", ended.stderr);
        }
    }

    let listed = ask(&["keys", "list"], Some(&admin)).stdout;
    assert!(listed.contains("  seller+service  s7      valid until "), "{listed}");
    assert_eq!(listed.lines().count(), 2, "a head and a key: {listed}");
    let revoked = ask(&["keys", "revoke", id(&key)], Some(&admin));
    assert!(revoked.stdout.contains(" is revoked at "), "{}{}", revoked.stdout, revoked.stderr);
    assert_eq!(json_code(&server, GET_INFO, Some(&key)), "unauthenticated", "at once in this process");
    assert_eq!(grpc_code(&server, GET_INFO, Some(&key)).await, "unauthenticated");
    let again = ask(&["keys", "revoke", "00000000"], Some(&admin));
    assert!(again.stderr.contains("there is no API key 00000000"), "{}", again.stderr);
}

#[test]
fn commands_on_a_store_that_a_process_holds_ask_that_process_with_the_token() {
    let port = testkit::free_port();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = made(&torg_run(&folder, &["keys", "add", "ops", "--role", "admin"], None));
    let address = format!("127.0.0.1:{port}");
    let server = Server::start_on(&folder, &address, &[REQUIRED]);
    for command in [&["keys", "list"][..], &["topic", "list"]] {
        let arguments = [command, &["--listen", &address]].concat();
        let without = torg_run(&folder, &arguments, None);
        assert_eq!(without.code, Some(1), "{}", without.stdout);
        assert!(without.stderr.contains("this needs a bearer token"), "{}", without.stderr);
        let with = torg_run(&folder, &arguments, Some(&key));
        assert_eq!(with.code, Some(0), "{}", with.stderr);
    }
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_from_before_there_were_keys_has_none_and_takes_some() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { free_bytes_min: 1 << 20, ..StoreOptions::default() };
    let schema = Schema::new(1, topics::tables()).unwrap();
    let older = Fjall::open(folder.path().join("data/store"), schema, &options).await.unwrap();
    drop(older);
    let listed = torg_run(&folder, &["keys", "list"], None);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.starts_with("there is no key yet"), "{}", listed.stdout);
    let revoked = torg_run(&folder, &["keys", "revoke", "00000000"], None);
    assert!(revoked.stderr.contains("there is no API key 00000000"), "{}", revoked.stderr);
    let key = made(&torg_run(&folder, &["keys", "add", "x", "--role", "admin"], None));
    assert!(torg_run(&folder, &["keys", "list"], None).stdout.contains(id(&key)));
}

#[test]
fn a_key_that_cannot_be_made_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, error) in [
        (&["x"][..], 2, "--role"),
        (&["x", "--role", "root"], 2, "possible values: seller, support, moderator, service, admin"),
        (&["x", "--role", "seller"], 1, "the role seller needs a seller's id"),
        (&["", "--role", "admin"], 1, "the name must be one line"),
        (&["x", "--role", "admin", "--days", "0"], 2, "--days"),
    ] {
        let ended = torg_run(&folder, &[&["keys", "add"], arguments].concat(), None);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(error), "{}", ended.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_a_key_made_and_revoked_beside_the_process_takes_effect() {
    let Some(postgres) = testkit::postgres() else { return };
    let database = postgres.fresh_database();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_in(&folder, &[REQUIRED, ("TORG_STORE_URL", &database)]);
    let add = ["keys", "add", "beside", "--role", "service", "--store", &database];
    let key = made(&torg_run(&folder, &add, None));
    assert_eq!(json_code(&server, GET_INFO, Some(&key)), "ok");
    let revoke = torg_run(&folder, &["keys", "revoke", id(&key), "--store", &database], None);
    assert_eq!(revoke.code, Some(0), "{}", revoke.stderr);
    // The process caches lookups of keys for a few seconds.
    let until = Instant::now() + PATIENCE;
    while json_code(&server, GET_INFO, Some(&key)) != "unauthenticated" {
        assert!(Instant::now() < until, "still believed");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
