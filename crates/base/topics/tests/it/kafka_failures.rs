//! The log in Kafka when things go wrong: brokers that die and come back, wrong addresses, wrong
//! passwords; and the way in through TLS and SASL.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{Memory, Store, StoreOptions};
use testkit::Kafka;
use topics::conformance::{self, NOW};
use topics::{Error, KafkaOptions, Mechanism, Message, ReadLimit, Retention, Sasl, Tls, TopicSpec, Topics};

const TOPIC: &str = "weather";
const PARTITIONS: u32 = 3;
const CALLERS: usize = 4;

fn store() -> Store {
    let schema = conformance::schema().expect("the suite's schema is valid");
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}

fn options(brokers: &str) -> KafkaOptions {
    KafkaOptions {
        brokers: vec![brokers.to_owned()],
        connect_timeout: Duration::from_secs(5),
        ..KafkaOptions::default()
    }
}

fn broker(options: &testkit::KafkaOptions) -> Option<Arc<Kafka>> {
    testkit::or_skip(Kafka::start_with(options)).map(Arc::new)
}

/// Starting and stopping brokers takes seconds.
async fn aside(work: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(work).await.expect("no panic");
}

/// Appends numbers to one key until told to stop. A number that was refused for a passing reason is
/// appended again.
async fn append_numbers(
    topics: Topics,
    key: String,
    stop: tokio::sync::watch::Receiver<bool>,
) -> (String, usize) {
    let mut n = 0;
    while !*stop.borrow() {
        let message = Message::new(key.clone(), n.to_string(), NOW);
        match topics.append(TOPIC, vec![message]).await {
            Ok(_) => n += 1,
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    }
    (key, n)
}

/// The numbers of each key, in the order of the log.
async fn numbers(topics: &Topics) -> BTreeMap<String, Vec<usize>> {
    let mut numbers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for partition in 0..PARTITIONS {
        let mut next = 0;
        loop {
            let page =
                topics.read(TOPIC, partition, next, ReadLimit::default()).await.expect("the broker is back");
            if page.messages.is_empty() {
                break;
            }
            next = page.next;
            for delivered in page.messages {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text was appended");
                let number = text(&delivered.message.payload).parse().expect("a number was appended");
                numbers.entry(text(&delivered.message.key)).or_default().push(number);
            }
        }
    }
    numbers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_killed_and_comes_back_loses_nothing_and_keeps_the_order_of_keys() {
    let Some(broker) = broker(&testkit::KafkaOptions::default()) else { return };
    let topics = Topics::in_kafka(&store(), options(&broker.bootstrap())).await.expect("the broker runs");
    topics.create(&TopicSpec::new(TOPIC, PARTITIONS)).await.expect("the broker runs");
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| tokio::spawn(append_numbers(topics.clone(), format!("key-{caller}"), stopped.clone())))
        .collect();
    // A reader that waits through all of it.
    let reader = topics.clone();
    let beyond = tokio::spawn(async move {
        let mut next = 0;
        while next < 200 {
            let limit = ReadLimit::default().waiting(Duration::from_secs(1));
            match reader.read(TOPIC, 0, next, limit).await {
                Ok(page) => next = page.next,
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
        }
    });
    for kill in [true, false] {
        let enough = topics.read(TOPIC, 0, 0, ReadLimit::default().waiting(Duration::from_secs(20))).await;
        assert!(!enough.expect("the broker runs").messages.is_empty());
        let again = Arc::clone(&broker);
        aside(move || {
            if kill {
                again.kill();
            } else {
                again.stop();
            }
            again.start_again();
        })
        .await;
    }
    tokio::time::timeout(Duration::from_secs(60), beyond).await.expect("reading goes on").expect("no panic");
    stop.send_replace(true);
    let mut acknowledged = BTreeMap::new();
    for caller in callers {
        let (key, count) = caller.await.expect("no panic");
        assert!(count > 20, "{key} got on to {count} only");
        acknowledged.insert(key, count);
    }
    let fresh = Topics::in_kafka(&store(), options(&broker.bootstrap())).await.expect("the broker runs");
    let found = numbers(&fresh).await;
    assert!(found.keys().eq(acknowledged.keys()), "a key is missing: {:?}", found.keys());
    for (key, mut numbers) in found {
        // A number whose answer was lost may be there twice, one after the other.
        numbers.dedup();
        let expected: Vec<usize> = (0..acknowledged[&key]).collect();
        assert_eq!(numbers, expected, "of {key}");
    }
    topics.close().await.expect("the broker runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_stays_away_is_a_passing_error_after_the_patience() {
    let Some(broker) = broker(&testkit::KafkaOptions::default()) else { return };
    let patience = Duration::from_secs(3);
    let options = KafkaOptions { patience, ..options(&broker.bootstrap()) };
    let topics = Topics::in_kafka(&store(), options).await.expect("the broker runs");
    topics.create(&TopicSpec::new(TOPIC, 1)).await.expect("the broker runs");
    let message = || vec![Message::new("k", "p", NOW)];
    topics.append(TOPIC, message()).await.expect("the broker runs");
    let away = Arc::clone(&broker);
    aside(move || away.kill()).await;

    let refused = [
        ("append", topics.append(TOPIC, message()).await.err()),
        ("read at the start", topics.read(TOPIC, 0, 0, ReadLimit::default()).await.err()),
        ("read at the end", topics.read(TOPIC, 0, 1, ReadLimit::default()).await.err()),
        ("describe", topics.describe(TOPIC).await.err()),
        ("offset at", topics.offset_at(TOPIC, 0, NOW).await.err()),
        ("create", topics.create(&TopicSpec::new("another", 1)).await.err()),
    ];
    for (what, error) in refused {
        let error = error.unwrap_or_else(|| panic!("{what} worked without a broker"));
        assert!(matches!(error, Error::Unavailable { .. }) && error.is_passing(), "{what}: {error}");
        assert!(!error.to_string().contains('\n') && error.hint().is_some());
    }

    // The test keeps a handle: with the last one the broker would go.
    let back = Arc::clone(&broker);
    aside(move || back.start_again()).await;
    let places = loop {
        match topics.append(TOPIC, message()).await {
            Ok(places) => break places,
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    };
    let page =
        topics.read(TOPIC, 0, places[0].offset, ReadLimit::default()).await.expect("the broker is back");
    assert_eq!(page.messages.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_at_the_address_is_an_error_in_one_line() {
    let nobody = format!("127.0.0.1:{}", testkit::free_port());
    for address in [nobody.as_str(), "no.such.host.invalid:9092"] {
        let options = KafkaOptions { connect_timeout: Duration::from_secs(3), ..options(address) };
        let error = Topics::in_kafka(&store(), options).await.err().expect("nobody is there");
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(address.split(':').next().unwrap_or_default()) && !text.contains('\n'),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_without_meaning_is_refused_by_name() {
    let settings = BTreeMap::from([("no.such.setting".to_owned(), "1".to_owned())]);
    let options = KafkaOptions { settings, ..options("127.0.0.1:1") };
    let error = Topics::in_kafka(&store(), options).await.err().expect("no such setting");
    assert!(matches!(&error, Error::BadSetting { detail } if detail.contains("no.such.setting")), "{error}");
    let error = Topics::in_kafka(&store(), KafkaOptions::default()).await.err().expect("no brokers");
    assert!(matches!(error, Error::BadSetting { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_and_sasl_let_the_right_one_in_and_nobody_else() {
    let Some(broker) = broker(&testkit::KafkaOptions { secure: true, ..Default::default() }) else { return };
    let (user, password) = broker.user().expect("a secure broker has a user");
    let files = broker.tls().expect("a secure broker has certificates");
    let right = KafkaOptions {
        tls: Some(Tls { ca_file: Some(files.ca.clone()), client_files: None }),
        sasl: Some(Sasl {
            mechanism: Mechanism::Plain,
            user: user.to_owned(),
            password: password.to_owned(),
        }),
        ..options(&broker.bootstrap())
    };
    let topics = Topics::in_kafka(&store(), right.clone()).await.expect("everything is right");
    let spec = TopicSpec::new(TOPIC, 2).retention(Retention::of_time(Duration::from_secs(3600)));
    topics.create(&spec).await.expect("everything is right");
    let places =
        topics.append(TOPIC, vec![Message::new("k", "secret", NOW)]).await.expect("everything is right");
    let page =
        topics.read(TOPIC, places[0].partition, 0, ReadLimit::default()).await.expect("everything is right");
    assert_eq!(page.messages[0].message.payload, "secret");

    let wrong_password = right.sasl.clone().map(|sasl| Sasl { password: "wrong".to_owned(), ..sasl });
    let wrong_mechanism = right.sasl.clone().map(|sasl| Sasl { mechanism: Mechanism::ScramSha256, ..sasl });
    let wrong_authority = Some(Tls { ca_file: Some(files.client_cert.clone()), client_files: None });
    for (what, wrong) in [
        ("password", KafkaOptions { sasl: wrong_password, ..right.clone() }),
        ("mechanism", KafkaOptions { sasl: wrong_mechanism, ..right.clone() }),
        ("authority", KafkaOptions { tls: wrong_authority, ..right.clone() }),
    ] {
        let error = Topics::in_kafka(&store(), wrong).await.err().unwrap_or_else(|| panic!("wrong {what}"));
        let text = error.to_string();
        assert!(matches!(error, Error::Refused { .. }), "{what}: {text}");
        assert!(!text.contains('\n') && !text.contains(password) && error.hint().is_some(), "{text}");
    }
    let plain = KafkaOptions { tls: None, sasl: None, ..right };
    let error = Topics::in_kafka(&store(), plain).await.err().expect("it wants TLS");
    assert!(matches!(error, Error::Unavailable { .. } | Error::Refused { .. }), "{error}");
}
