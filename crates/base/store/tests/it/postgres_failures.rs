//! The PostgreSQL engine when things go wrong: servers that crash, connections that break at the
//! worst moment, and addresses that cannot work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Load, databases, open, open_with, options, try_open};
use store::conformance::{ENTRIES, OFFERS};
use store::{Batch, Error, Read, Store, StoreOptions};
use testkit::{Postgres, PostgresOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn gauge(store: &Store, name: &str) -> f64 {
    store.gauges().into_iter().find(|(gauge, _)| *gauge == name).map_or(0.0, |(_, value)| value)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("no panic")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_under_load_loses_nothing_and_applies_nothing_twice() {
    const CRASHES: usize = 5;
    let Some(server) = testkit::or_skip(Postgres::start()).map(Arc::new) else { return };
    let store = open(&server.url()).await;
    let mut load = Load::start(&store, 16);
    for _ in 0..CRASHES {
        load.progress(200).await;
        let server = Arc::clone(&server);
        blocking(move || server.restart_immediate()).await;
    }
    load.progress(200).await;
    assert!(gauge(&store, "postgres_connections_lost") >= CRASHES as f64);
    load.stop_and_compare(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn backends_that_are_terminated_lose_nothing_and_apply_nothing_twice() {
    const UNKNOWNS: f64 = 5.0;
    let Some((_, _, url)) = databases() else { return };
    let store = open(&url).await;
    let mut load = Load::start(&store, 16);
    let (killer, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                AND pid <> pg_backend_pid() AND state = 'active' AND query ~ '_commits|queue|counts|COMMIT'";
    let kill = killer.prepare(kill).await.unwrap();
    while gauge(&store, "postgres_commit_unknowns") < UNKNOWNS {
        // A store whose connections die faster than it can make them would never come to a COMMIT.
        load.progress(20).await;
        while killer.query(&kill, &[]).await.unwrap().is_empty() {}
    }
    load.stop_and_compare(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_cancelled_leave_no_half_of_a_batch() {
    const ERRORS: u64 = 200;
    let Some((_, _, url)) = databases() else { return };
    let store = open(&url).await;
    let mut load = Load::start(&store, 16);
    let (killer, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                  AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let cancel = killer.prepare(cancel).await.unwrap();
    let cancelling = tokio::spawn(async move {
        loop {
            killer.query(&cancel, &[]).await.unwrap();
        }
    });
    load.progress(ERRORS * 4).await;
    cancelling.abort();
    let errors = load.stop_and_compare_errors(&store).await;
    assert!(errors.iter().all(|error| error.contains("canceling statement")), "{errors:?}");
    assert!(!errors.is_empty(), "nothing was cancelled");
}

/// What happens to a COMMIT that passes by.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Passes,
    /// It arrives and its answer does not.
    AnswerLost,
    /// It never arrives.
    RequestLost,
    /// The client is cut off at once; the COMMIT alone arrives a little later.
    Late,
    /// The same with all statements that were sent together with it.
    AllLate,
}

const FATES: [Fate; 9] = [
    Fate::Passes,
    Fate::AnswerLost,
    Fate::Passes,
    Fate::RequestLost,
    Fate::Passes,
    Fate::Late,
    Fate::Passes,
    Fate::Passes,
    Fate::AllLate,
];

/// COMMIT as the protocol's simple query.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// Passes connections on to a server and lets each COMMIT suffer its fate.
async fn treacherous_proxy(port: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let proxy_port = listener.local_addr().unwrap().port();
    let commits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&commits);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let commits = Arc::clone(&counted);
            tokio::spawn(async move {
                let server = TcpStream::connect(("127.0.0.1", port)).await?;
                pass_on(client, server, &commits).await
            });
        }
    });
    (proxy_port, commits)
}

async fn pass_on(client: TcpStream, server: TcpStream, commits: &AtomicUsize) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut buffer = vec![0; 1 << 20];
    loop {
        let length = from_client.read(&mut buffer).await?;
        if length == 0 {
            return to_server.shutdown().await;
        }
        let bytes = &buffer[..length];
        let Some(before) = bytes.strip_suffix(COMMIT) else {
            to_server.write_all(bytes).await?;
            continue;
        };
        let fate = FATES[commits.fetch_add(1, Ordering::Relaxed) % FATES.len()];
        let (at_once, late) = match fate {
            Fate::Passes => {
                to_server.write_all(bytes).await?;
                continue;
            }
            Fate::AnswerLost => (bytes, &b""[..]),
            Fate::RequestLost => (before, &b""[..]),
            Fate::Late => (before, COMMIT),
            Fate::AllLate => (&b""[..], bytes),
        };
        // The client learns at once that the connection is gone; the server does not.
        answers.abort();
        let _ = answers.await;
        drop(from_client);
        to_server.write_all(at_once).await?;
        if !late.is_empty() {
            tokio::time::sleep(Duration::from_millis(30)).await;
            to_server.write_all(late).await?;
        }
        return to_server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_unknown_outcome_is_resolved_exactly() {
    const COMMITS: usize = 108;
    let Some((server, database, url)) = databases() else { return };
    let (port, commits) = treacherous_proxy(server.port()).await;
    let through = url.replace(&format!(":{}/", server.port()), &format!(":{port}/"));
    let store = open(&format!("{through}?sslmode=disable")).await;
    commits.store(0, Ordering::Relaxed);
    let mut load = Load::start(&store, 16);
    while commits.load(Ordering::Relaxed) < COMMITS {
        load.progress(1).await;
    }
    let unknowns = gauge(&store, "postgres_commit_unknowns");
    assert!(unknowns >= (COMMITS / FATES.len() * 3) as f64, "only {unknowns} unknown outcomes");
    load.stop_and_compare(&store).await;
    let aborted = server.psql_in(&database, "SELECT count(*) > 0 FROM torg._commits WHERE state = 'aborted'");
    assert_eq!(aborted, "t", "some attempts were settled by the asker");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stays_away_is_reported_and_the_store_recovers_by_itself() {
    let Some(server) = testkit::or_skip(Postgres::start()) else { return };
    let mut options = options();
    options.postgres.patience = Duration::from_millis(300);
    let store = open_with(&server.url(), &options).await;
    let key = OFFERS.key((1, "a"));
    let mut batch = Batch::new();
    batch.put(key.clone(), 1, "x");
    assert!(store.commit(batch.clone()).await.unwrap().is_applied());
    assert!(store.get_one(&key).await.unwrap().is_some());
    server.stop_immediate();
    assert!(matches!(store.commit(batch.clone()).await, Err(Error::Unavailable { .. })));
    assert!(matches!(store.get_one(&key).await, Err(Error::Unavailable { .. })));
    assert!(matches!(store.snapshot().await.err(), Some(Error::Unavailable { .. })));
    server.start_again();
    assert!(store.commit(batch).await.unwrap().is_applied());
    assert!(store.get_one(&key).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_with_a_stranger_is_not_the_callers_problem() {
    let Some((server, database, url)) = databases() else { return };
    let store = open(&url).await;
    let (guard, row) = (ENTRIES.key((1, &b"guard"[..], "")), OFFERS.key((1, "row")));
    let mut batch = Batch::new();
    batch.put(guard.clone(), 1, "").put(row.clone(), 1, "");
    assert!(store.commit(batch).await.unwrap().is_applied());
    let (stranger, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    stranger.batch_execute("BEGIN; UPDATE torg.offers SET value = 'stranger'").await.unwrap();
    let commit = {
        let (store, row) = (store.clone(), row.clone());
        tokio::spawn(async move {
            let mut batch = Batch::new();
            batch.check(guard, 1).put(row, 2, "ours");
            store.commit(batch).await
        })
    };
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while server.psql_in(&database, waiting) != "1" {
        tokio::task::yield_now().await;
    }
    // Now each waits for the other. Whoever notices first gives way; if that is the stranger, so be
    // it.
    let stayed = stranger.batch_execute("UPDATE torg.entries SET value = 'stranger'; COMMIT").await.is_ok();
    assert!(commit.await.unwrap().unwrap().is_applied());
    assert_eq!(gauge(&store, "postgres_commit_retries") >= 1.0, stayed);
    assert_eq!(&*store.get_one(&row).await.unwrap().unwrap().value, b"ours");
}

async fn refusal(url: &str, options: &StoreOptions) -> Error {
    let error = try_open(url, options).await.err().expect("it must not open");
    let text = error.to_string();
    assert!(!text.contains("torg-test") && !text.contains("wr0ng"), "a password in {text}");
    assert!(!text.contains('\n'), "one line: {text}");
    error
}

#[tokio::test]
async fn an_address_that_cannot_work_is_refused_with_the_reason_and_without_the_password() {
    let Some((server, _, url)) = databases() else { return };
    let wrong = refusal(&url.replace(":torg-test@", ":wr0ng@"), &options()).await;
    assert!(matches!(&wrong, Error::Refused { detail } if detail.contains("password")), "{wrong}");
    let missing = refusal(&server.url_of("no_such_database"), &options()).await;
    assert!(
        matches!(&missing, Error::Refused { detail } if detail.contains("no_such_database")),
        "{missing}"
    );
    let mut options = options();
    options.postgres.connect_timeout = Duration::from_millis(500);
    let nobody = url.replace(&server.port().to_string(), &testkit::free_port().to_string());
    let nobody = refusal(&nobody, &options).await;
    assert!(matches!(&nobody, Error::Unavailable { detail } if detail.contains("refused")), "{nobody}");
    let nowhere = refusal("postgres://torg:torg-test@no-such-host.invalid/x", &options).await;
    assert!(matches!(nowhere, Error::Unavailable { .. }), "{nowhere}");
    for garbage in ["postgres://torg:torg-test@/x:y:z", "postgres//torg:torg-test", "postgres://torg-test@:"]
    {
        let garbage = refusal(garbage, &options).await;
        assert!(matches!(garbage, Error::BadUrl { .. } | Error::Unavailable { .. }), "{garbage}");
    }
}

#[tokio::test]
async fn a_user_without_rights_is_refused() {
    let Some((server, database, url)) = databases() else { return };
    let user = testkit::fresh_name("poor");
    server.psql_in(&database, &format!("CREATE USER {user} PASSWORD 'torg-test'"));
    let poor = url.replace("//torg:", &format!("//{user}:"));
    let error = refusal(&poor, &options()).await;
    assert!(matches!(&error, Error::Refused { detail } if detail.contains("permission denied")), "{error}");
    // An administrator may prepare the schema; then no right on the database is needed.
    server.psql_in(&database, &format!("CREATE SCHEMA torg AUTHORIZATION {user}"));
    open(&poor).await;
}

#[tokio::test]
async fn tls_verifies_the_server_when_it_is_asked_to() {
    let started = Postgres::start_with(&PostgresOptions { tls: true, ..PostgresOptions::default() });
    let other = Postgres::start_with(&PostgresOptions { tls: true, fsync: false, settings: Vec::new() });
    let (server, other) = match (started, other) {
        (Ok(server), Ok(other)) => (server, other),
        (Err(missing), _) | (_, Err(missing)) => return testkit::skip(missing.what, missing.why),
    };
    let base = server.url().replace("?sslmode=require", "");
    let with_ca = |ca: Option<&std::path::Path>| {
        let mut options = options();
        options.postgres.tls_ca_file = ca.map(Into::into);
        options
    };
    let right = with_ca(server.ca_pem());
    for mode in ["prefer", "require", "verify-full"] {
        let store = open_with(&format!("{base}?sslmode={mode}"), &right).await;
        assert!(store.get_one(&OFFERS.key((1, "a"))).await.unwrap().is_none());
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'torg'";
        assert_eq!(server.psql(encrypted), "t", "{mode}");
    }
    open_with(&format!("{base}?sslmode=require"), &with_ca(None)).await;
    for (mode, ca) in [("verify-full", other.ca_pem()), ("require", other.ca_pem())] {
        let error = refusal(&format!("{base}?sslmode={mode}"), &with_ca(ca)).await;
        assert!(matches!(&error, Error::Refused { detail } if detail.contains("certificate")), "{error}");
    }
    let plain = refusal(&format!("{base}?sslmode=disable"), &right).await;
    assert!(matches!(&plain, Error::Refused { .. }), "{plain}");
    let files = server.tls().unwrap();
    let mut client = with_ca(server.ca_pem());
    client.postgres.tls_client_files = Some((files.client_cert.clone(), files.client_key.clone()));
    open_with(&format!("{base}?sslmode=verify-full"), &client).await;
    client.postgres.tls_client_files = Some((files.client_cert.clone(), "/no/such/file".into()));
    assert!(matches!(refusal(&format!("{base}?sslmode=require"), &client).await, Error::Io { .. }));
}
