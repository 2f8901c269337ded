//! PostgreSQL and Kafka that are down, refuse connections, or have no room.

use testkit::{Postgres, PostgresOptions};

use crate::doctor::rig::Patient;

fn on(store: &str) -> Patient {
    Patient::new().with(&[("TORG_STORE_URL", store)])
}

#[test]
fn a_database_that_answers_is_well_and_the_wrong_password_is_told() {
    let Some(postgres) = testkit::postgres() else { return };
    let url = postgres.fresh_database();
    let patient = on(&url);
    patient.examine(&[]).assert_told("store", "note", "there is no store at", "");
    patient.serve().stop();
    let told = patient.examine(&[]);
    told.assert_well();
    told.assert_told("store", "ok", "PostgreSQL 1", "");
    told.assert_told("store", "ok", "connections to PostgreSQL are taken", "");
    told.assert_told("clock", "ok", "the clock of PostgreSQL agrees", "");

    let (before, after) = url.split_once('@').unwrap();
    let user = before.rsplit_once(':').unwrap().0;
    let told = on(&format!("{user}:wrong@{after}")).examine(&[]);
    told.assert_told("store", "error", "refuses the connection", "password");
    let server = after.rsplit_once('/').unwrap().0;
    let told = on(&format!("{before}@{server}/nothing")).examine(&[]);
    told.assert_told("store", "error", "nothing", "database name");
}

#[test]
fn a_database_that_is_stopped_is_told() {
    let postgres = match Postgres::start() {
        Ok(postgres) => postgres,
        Err(missing) => return testkit::skip(missing.what, &missing.why),
    };
    let patient = on(&postgres.url());
    postgres.stop_immediate();
    patient.examine(&[]).assert_told("store", "error", "cannot be reached", "check that the database runs");
}

#[test]
fn a_database_with_few_connections_left_is_told() {
    let options = PostgresOptions {
        settings: vec![("max_connections".to_owned(), "15".to_owned())],
        ..PostgresOptions::default()
    };
    let postgres = match Postgres::start_with(&options) {
        Ok(postgres) => postgres,
        Err(missing) => return testkit::skip(missing.what, &missing.why),
    };
    let told = on(&postgres.url()).examine(&[]);
    told.assert_told("store", "warning", "connections to PostgreSQL are taken", "max_connections");
}

#[test]
fn a_broker_that_is_away_is_told() {
    let broker = format!("kafka://127.0.0.1:{}", testkit::free_port());
    let told = Patient::new().with(&[("TORG_TOPICS_URL", &broker)]).examine(&[]);
    told.assert_told("topics", "error", "Kafka cannot be reached", "");
}

#[test]
fn topics_of_a_broker_are_compared_with_the_configuration() {
    let Some(kafka) = testkit::kafka() else { return };
    let prefix = testkit::fresh_name("doctor");
    let url = format!("kafka://{}", kafka.bootstrap());
    let patient = Patient::new().with(&[
        ("TORG_TOPICS_URL", &url),
        ("TORG_KAFKA_TOPIC_PREFIX", &prefix),
        ("TORG_OFFERS_TOPIC_PARTITIONS", "2"),
    ]);
    patient.done(&["topic", "create", "offers", "--partitions", "3"]);
    let told = patient.examine(&[]);
    told.assert_told("topics", "warning", "topic offers has 3 partitions", "offers.topic_partitions = 3");
}
