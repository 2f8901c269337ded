//! Changes are marked until a consumer has read them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ctl::{Change, Ctl, Mark};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng};
use store::{Batch, Outcome};
use triggers::{Parameter, Value};

use crate::fixture::{Fixture, name, number};

pub(crate) async fn many_changes_of_one_parameter_are_one_mark(fixture: Fixture) {
    for value in 1..=5 {
        fixture.change(number("sales.rows", value)).await.unwrap();
    }
    let marks = fixture.ctl.changed(10).await.unwrap();
    assert_eq!(marks.len(), 1);
    let Mark { parameter, version, value, at, .. } = &marks[0];
    assert_eq!((parameter, *version, *value), (&name("sales.rows"), 5, Some(Value::Number(5))));
    assert_eq!(at.as_millisecond(), 1_700_000_000_000);
    fixture.change(Change::delete(name("sales.rows"))).await.unwrap();
    assert_eq!(fixture.ctl.changed(10).await.unwrap()[0].value, None, "a deletion is a change too");
}

pub(crate) async fn a_mark_of_a_later_change_is_not_forgotten(fixture: Fixture) {
    fixture.ctl.set(vec![number("a.x", 1), number("b.x", 1)], "anna", "").await.unwrap();
    let mut marks = fixture.ctl.changed(10).await.unwrap();
    fixture.change(number("a.x", 2)).await.unwrap();
    let forget = async |marks: &[Mark]| {
        let mut batch = Batch::new();
        fixture.ctl.forget(&mut batch, marks);
        fixture.ctl.store().commit(batch).await.unwrap()
    };
    let Outcome::Conflict(keys) = forget(&marks).await else { panic!("one was changed again") };
    assert_eq!(fixture.ctl.changed(10).await.unwrap().len(), 2, "neither was forgotten");
    fixture.ctl.keep_unchanged(&mut marks, &keys);
    assert_eq!(marks.iter().map(|mark| mark.parameter.clone()).collect::<Vec<_>>(), [name("b.x")]);
    assert_eq!(forget(&marks).await, Outcome::Applied);
    let left = fixture.ctl.changed(10).await.unwrap();
    assert_eq!((left.len(), left[0].version, left[0].value), (1, 2, Some(Value::Number(2))));
    // A deletion and a new value do not bring an old version back.
    assert_eq!(fixture.ctl.forget_now(&left).await.unwrap(), 1);
    fixture.change(Change::delete(name("a.x"))).await.unwrap();
    fixture.change(number("a.x", 1)).await.unwrap();
    assert_eq!(fixture.ctl.forget_now(&left).await.unwrap(), 0);
    assert_eq!(fixture.ctl.changed(10).await.unwrap().len(), 1);
}

/// A consumer that may be killed between looking and forgetting.
#[derive(Default)]
struct Consumer {
    /// What it has looked at, and not forgotten.
    held: Vec<Mark>,
    /// The versions that it has looked at for good.
    known: BTreeMap<Parameter, u64>,
}

impl Consumer {
    async fn forget(&mut self, ctl: &Ctl) {
        let mut batch = Batch::new();
        ctl.forget(&mut batch, &self.held);
        match ctl.store().commit(batch).await.unwrap() {
            Outcome::Applied => {
                self.known.extend(self.held.drain(..).map(|mark| (mark.parameter, mark.version)));
            }
            Outcome::Conflict(keys) => ctl.keep_unchanged(&mut self.held, &keys),
        }
    }
}

/// Writers, a consumer and its deaths in an order that a seed tells; after each step every change
/// is either known or marked.
pub(crate) async fn no_change_is_lost_whatever_the_order_of_writers_and_consumer(fixture: Fixture) {
    for seed in 0..8 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut consumer = Consumer::default();
        let mut versions: BTreeMap<Parameter, u64> = BTreeMap::new();
        let parameters: Vec<Parameter> = (0..5).map(|i| name(&format!("s{seed}e{i}.rows"))).collect();
        for _ in 0..120 {
            match random.random_range(0..10) {
                0..=4 => {
                    let parameter = &parameters[random.random_range(0..parameters.len())];
                    let value = Value::Number(random.random_range(0..4));
                    let change = if random.random_range(0..5) == 0 {
                        Change::delete(parameter.clone())
                    } else {
                        Change::set(parameter.clone(), value).moving_back()
                    };
                    let done = fixture.change(change).await.unwrap();
                    versions.insert(done.parameter, done.version);
                }
                5..=6 => consumer.held = fixture.ctl.changed(random.random_range(1..6)).await.unwrap(),
                7..=8 => consumer.forget(&fixture.ctl).await,
                _ => consumer.held.clear(),
            }
            let marked: BTreeMap<Parameter, u64> = fixture
                .ctl
                .changed(100)
                .await
                .unwrap()
                .into_iter()
                .map(|mark| (mark.parameter, mark.version))
                .collect();
            for (parameter, version) in versions.iter().filter(|(_, version)| **version > 0) {
                let newest = marked.get(parameter).or(consumer.known.get(parameter));
                assert_eq!(newest, Some(version), "seed {seed}: {parameter}");
            }
        }
        let rest = fixture.ctl.changed(100).await.unwrap();
        assert_eq!(fixture.ctl.forget_now(&rest).await.unwrap(), rest.len());
    }
}

/// Writers that do not wait for the consumer: what it has heard at the end is what there is.
pub(crate) async fn no_change_is_lost_beside_writers_that_never_stop(fixture: Fixture) {
    let left = Arc::new(AtomicUsize::new(3));
    let mut writers = Vec::new();
    for writer in 0..3_u64 {
        let (ctl, left) = (fixture.ctl.clone(), Arc::clone(&left));
        writers.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(writer);
            for _ in 0..60 {
                let first = random.random_range(0..8);
                let changes = (first..first + 3)
                    .map(|i| number(&format!("e{i}.rows"), random.random_range(0..1000)).moving_back());
                ctl.set(changes.collect(), "anna", "").await.unwrap();
            }
            left.fetch_sub(1, Ordering::SeqCst);
        }));
    }
    let mut heard: BTreeMap<Parameter, (u64, Option<Value>)> = BTreeMap::new();
    let mut watch = fixture.ctl.watch();
    loop {
        let over = left.load(Ordering::SeqCst) == 0;
        let marks = fixture.ctl.changed(4).await.unwrap();
        if marks.is_empty() {
            if over {
                break;
            }
            assert!(watch.next().await);
            continue;
        }
        for mark in &marks {
            let before = heard.insert(mark.parameter.clone(), (mark.version, mark.value));
            assert!(before.is_none_or(|(version, _)| version <= mark.version), "marks never go back");
        }
        fixture.ctl.forget_now(&marks).await.unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let all = fixture.ctl.all().await.unwrap();
    let there: BTreeMap<_, _> = all
        .into_iter()
        .map(|(parameter, current)| (parameter, (current.version, Some(current.value))))
        .collect();
    assert_eq!(heard, there);
}

pub(crate) async fn with_more_changes_than_can_be_looked_at_every_parameter_has_its_turn(fixture: Fixture) {
    let all: Vec<Change> = (0..50).map(|i| number(&format!("e{i}.rows"), 1)).collect();
    fixture.ctl.set(all, "anna", "").await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let marks = fixture.ctl.changed_after(after.as_ref(), 7).await.unwrap();
        seen.extend(marks.iter().map(|mark| mark.parameter.clone()));
        let Some(last) = marks.last() else { break };
        after = Some(last.clone());
        // What was seen changes again at once.
        fixture.change(number("e0.rows", i64::try_from(seen.len()).unwrap())).await.unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 50);
}

pub(crate) async fn a_watch_wakes_up_for_a_change_and_ends_with_the_store(fixture: Fixture) {
    let mut watch = fixture.ctl.watch();
    fixture.change(number("sales.rows", 5)).await.unwrap();
    assert!(watch.next().await);
    fixture.ctl.store().close().await.unwrap();
    // What was heard before the end may come first.
    while watch.next().await {}
}
