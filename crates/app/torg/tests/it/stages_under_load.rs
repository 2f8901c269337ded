//! A stage in Python, from the template, under load: it is killed again and again, and so is Torg;
//! nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::python_stage::{PHONE, Project, STAGE, bicycle, eventually, has_python};
use crate::common::{Answer, PATIENCE, Server, post_json};
use serde_json::{Value, json};

/// Sellers that write at the same time.
const WRITERS: usize = 4;
/// Offers of each.
const OFFERS: usize = 6;
/// A seller's pause between two changes: the stage changes offers as often as sellers do, and gets
/// one version after the other.
const PAUSE: Duration = Duration::from_millis(100);
/// Kills of the stage while sellers write.
const KILLS: usize = 5;
/// The minimum of changes by the stage between two kills.
const PROGRESS: usize = 10;
/// The amount that is added from outside to the state of an offer, and the number of additions.
const ADDED: u64 = 1000;
const ADDITIONS: u64 = 3;

/// Adds to the states of some offers, and retries when the stage is faster.
const ADD: &str = "
import sys
from torg_stages import StateClient
with StateClient(sys.argv[1]) as states:
    for id in sys.argv[4:] * int(sys.argv[3]):
        states.update('phone-numbers', id, lambda kept: {**kept.state, 'times': kept.state['times'] + int(sys.argv[2])})
";

/// Two clients change the same state: the second is refused and has to read again.
const RACE: &str = "
import sys
from torg_stages import StateClient
stage, id, last = 'phone-numbers', sys.argv[2], sys.argv[3]
with StateClient(sys.argv[1]) as ours, StateClient(sys.argv[1]) as theirs:
    read = ours.get(stage, id)
    assert theirs.set(stage, id, {'times': 40, 'last': last}, read.version)
    assert not ours.set(stage, id, {'times': 1, 'last': last}, read.version)
    assert ours.get(stage, id).state == {'times': 40, 'last': last}
    print(read.version, ours.get(stage, id).version)
";

/// Writes an old state whose timer is long overdue, so that the stage deletes it.
const FORGET: &str = "
import sys
from torg_stages import StateClient
with StateClient(sys.argv[1]) as states:
    states.update('phone-numbers', sys.argv[2], lambda kept: {'times': 7, 'last': '2020-01-01T00:00:00+00:00'}, visit=True)
";

/// A seller's program: retries until it has a response, whatever happens to the server meanwhile.
fn persistent(address: SocketAddr, method: &str, body: &Value) -> Value {
    let request = post_json(&format!("/torg.offers.v1.OfferService/{method}"), &body.to_string());
    eventually(method, || {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).ok()?;
        let mut whole = Vec::new();
        stream.read_to_end(&mut whole).ok()?;
        let answer = Answer::of(&whole);
        let again = matches!(answer.status, 0 | 409 | 503);
        assert!(again || answer.status == 200, "{method}: {answer:?}");
        // The end of a process may cut a response.
        (!again).then(|| serde_json::from_str(&answer.body).ok()).flatten()
    })
}

/// Creates offers and changes them until it is stopped. Returns the titles without the phone
/// number, by id.
fn write(address: SocketAddr, writer: usize, stop: &AtomicBool) -> BTreeMap<String, String> {
    let title = |n: usize, round: usize| format!("Bicycle {writer}-{n}, round {round}");
    let make = |n: usize| {
        let offer = bicycle(&format!("{} {PHONE}", title(n, 0)));
        let key = format!("make-{writer}-{n}");
        let made = persistent(address, "CreateOffer", &json!({ "offer": offer, "idempotencyKey": key }));
        made["offer"]["id"].as_str().unwrap().to_owned()
    };
    let ids: Vec<String> = (0..OFFERS).map(make).collect();
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        for (n, id) in ids.iter().enumerate() {
            change_title(address, id, &title(n, round), &format!("{writer}-{n}-{round}"));
            std::thread::sleep(PAUSE);
        }
    }
    ids.into_iter().enumerate().map(|(n, id)| (id, title(n, round))).collect()
}

fn change_title(address: SocketAddr, id: &str, title: &str, key: &str) {
    let offer = json!({ "id": id, "title": format!("{title} {PHONE}") });
    let change = json!({ "offer": offer, "updateMask": "title", "idempotencyKey": key });
    persistent(address, "UpdateOffer", &change);
}

/// The stage's notices to moderators: the times by offer and version, in the order in which
/// versions came first.
fn notices(project: &Project) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut notices: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for line in project.printed() {
        let Some((key, text)) = line.strip_prefix("notice ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        let (id, version) = key.split_once('-').unwrap();
        let times = text.split(", ").nth(1).and_then(|times| times.split(' ').next()).unwrap();
        let notice = (version.parse().unwrap(), times.parse().unwrap());
        let of_offer = notices.entry(id.to_owned()).or_default();
        match of_offer.iter().find(|(version, _)| *version == notice.0) {
            Some(before) => assert_eq!(*before, notice, "a change that comes twice is the same"),
            None => of_offer.push(notice),
        }
    }
    notices
}

/// Waits until the stage has received these versions.
fn told_of(project: &Project, id: &str, versions: &[u64]) -> Vec<(u64, u64)> {
    let mut missing_before = Vec::new();
    eventually("every change is told", || {
        let told = notices(project).remove(id).unwrap_or_default();
        let is_missing = |wanted: &&u64| told.iter().all(|(version, _)| version != *wanted);
        let missing: Vec<u64> = versions.iter().filter(is_missing).copied().collect();
        if missing != missing_before {
            println!("{id}: not told of {missing:?}");
        }
        missing_before = missing;
        missing_before.is_empty().then_some(told)
    })
}

/// Waits until the stage has made some more changes.
fn progress(project: &Project) {
    let before = project.printed().len();
    eventually("progress", || (project.printed().len() >= before + PROGRESS).then_some(()));
}

/// kill -9 and a new start, on the same port and the same store.
fn kill(server: &mut Server) {
    server.signal("KILL");
    server.wait();
    *server = Server::start_on(&Arc::clone(&server.folder), &server.address.to_string(), &[]);
}

#[test]
fn a_python_stage_that_is_killed_under_load_misses_nothing_and_neither_does_torg() {
    if !has_python("a stage under load") {
        return;
    }
    let mut server = Server::start(&[]);
    let address = server.address;
    let project = Project::write_out(&server.folder, STAGE);
    project.edit("PATIENCE = 3", "PATIENCE = 1");
    let mut python = project.start();
    server.register(&project, &[]);

    let stop = AtomicBool::new(false);
    let mut added = Vec::new();
    let expected: BTreeMap<String, String> = std::thread::scope(|threads| {
        let stop = &stop;
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| threads.spawn(move || write(address, writer, stop))).collect();
        for nth in 0..KILLS {
            progress(&project);
            if nth == KILLS / 2 {
                kill(&mut server);
                progress(&project);
                added = add_to_states(&server, &project);
            }
            python.kill();
            python = project.start();
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(expected.len(), WRITERS * OFFERS);
    for (id, title) in &expected {
        server.title_becomes(id, title);
        let versions = server.versions_by_stage(id);
        let outside = if added.contains(id) { ADDITIONS * ADDED } else { 0 };
        let times = versions.len() as u64 + outside;
        assert_eq!(server.state(id)["state"]["value"]["times"], times as f64, "{id}: {versions:?}");
        let told = told_of(&project, id, &versions);
        assert_eq!(told.iter().map(|(version, _)| *version).collect::<Vec<_>>(), versions, "{id}");
        let counted = (1..).zip(&told).all(|(nth, (_, times))| times % ADDED == nth % ADDED);
        assert!(counted, "{id}: {told:?}");
    }

    // The next version of the stage deletes its state sooner, and is killed before its timers are
    // due; so is Torg.
    python.kill();
    project.edit("timedelta(days=30)", "timedelta(seconds=3)");
    python = project.start();
    for (id, title) in &expected {
        change_title(address, id, title, &format!("again-{id}"));
        server.title_becomes(id, title);
    }
    python.kill();
    kill(&mut server);
    python = project.start();
    for id in expected.keys() {
        eventually("the timer fires", || server.state(id).get("state").is_none().then_some(()));
    }
    states_are_changed_from_outside(&server, &project, expected.keys().next().unwrap());
    python.kill();
}

/// Changes the states of some offers from outside, while the stage changes them too.
fn add_to_states(server: &Server, project: &Project) -> Vec<String> {
    let ids: Vec<String> = notices(project).into_keys().take(3).collect();
    let (url, added, additions) = (server.url(), ADDED.to_string(), ADDITIONS.to_string());
    let arguments = [&url, &added, &additions].into_iter().chain(&ids).map(String::as_str);
    project.python(ADD, &arguments.collect::<Vec<_>>());
    ids
}

/// The loser of a race gets an error; the stage receives the winner's state.
fn states_are_changed_from_outside(server: &Server, project: &Project, id: &str) {
    let printed = project.python(RACE, &[&server.url(), id, "2026-01-01T00:00:00+00:00"]);
    let (read, now) = printed.trim().split_once(' ').unwrap();
    let state = json!({ "@type": "type.googleapis.com/google.protobuf.Struct", "value": { "times": 1 } });
    let late = json!({ "stage": STAGE, "id": id, "state": state, "version": read });
    let lost = server.post_json("/torg.stages.v1.StateService/SetState", &late.to_string());
    assert_eq!((lost.status, &lost.json()["code"]), (409, &json!("aborted")), "{lost:?}");
    let message = lost.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with(&format!("the state has version {now} now")), "{message}");

    change_title(server.address, id, "Won", "won");
    server.title_becomes(id, "Won");
    eventually("the stage counts on", || {
        notices(project)[id].last().is_some_and(|(_, times)| *times == 41).then_some(())
    });
    project.python(FORGET, &[&server.url(), id]);
    eventually("the stage visits at once", || server.state(id).get("state").is_none().then_some(()));
}
