//! The PostgreSQL that tests get: what it promises, tried on a real server.

use testkit::{Postgres, PostgresOptions};
use tokio_postgres::NoTls;

async fn connect(url: &str) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

#[tokio::test]
async fn a_fresh_database_takes_connections_and_a_wrong_password_is_refused() {
    let Some(server) = testkit::postgres() else { return };
    let url = server.fresh_database();
    let client = connect(&url).await.unwrap();
    let row = client.query_one("SELECT current_database(), 'a' < 'B'", &[]).await.unwrap();
    assert!(url.ends_with(row.get::<_, &str>(0)));
    assert!(row.get::<_, bool>(1), "the default collation has to differ from the byte order");

    let refused = connect(&url.replace(":torg-test@", ":wrong@")).await.err().unwrap();
    assert_eq!(refused.code(), Some(&tokio_postgres::error::SqlState::INVALID_PASSWORD));
}

#[tokio::test]
async fn committed_rows_survive_an_immediate_stop_and_restart() {
    let Some(server) = testkit::or_skip(Postgres::start()) else { return };
    server.psql("CREATE TABLE t (n int); INSERT INTO t VALUES (7)");
    let client = connect(&server.url()).await.unwrap();
    server.restart_immediate();
    client.simple_query("SELECT 1").await.expect_err("the old connection is dead");
    assert_eq!(server.psql("SELECT n, fsync.setting FROM t, pg_settings fsync WHERE name = 'fsync'"), "7|on");
    server.stop_immediate();
    assert!(connect(&server.url()).await.is_err(), "nobody listens");
    server.start_again();
    assert_eq!(server.psql("SELECT n FROM t"), "7");
}

#[tokio::test]
async fn a_server_with_tls_refuses_plain_connections() {
    let options =
        PostgresOptions { tls: true, fsync: false, settings: vec![("work_mem".into(), "5MB".into())] };
    let Some(server) = testkit::or_skip(Postgres::start_with(&options)) else { return };
    assert!(server.ca_pem().unwrap().is_file());
    assert_eq!(server.psql("SHOW work_mem"), "5MB");
    let plain = server.url().replace("sslmode=require", "sslmode=disable");
    let refused = connect(&plain).await.err().unwrap();
    assert!(refused.as_db_error().unwrap().message().contains("no encryption"), "{refused:?}");
}

#[test]
fn dropping_a_server_stops_it_and_removes_its_folder() {
    let Some(server) =
        testkit::or_skip(Postgres::start_with(&PostgresOptions { tls: true, ..PostgresOptions::default() }))
    else {
        return;
    };
    let folder = server.ca_pem().unwrap().parent().unwrap().to_path_buf();
    let port = server.port();
    assert!(folder.is_dir());
    drop(server);
    assert!(!folder.exists());
    std::net::TcpStream::connect(("127.0.0.1", port)).expect_err("nobody listens");
}
