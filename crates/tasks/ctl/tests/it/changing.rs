//! Values are changed.

use std::sync::atomic::Ordering;

use ctl::{Change, Current, Error, Expected};
use store::{Batch, Outcome};
use triggers::Value;

use crate::fixture::{Fixture, name, number};

pub(crate) async fn a_value_is_set_changed_and_deleted_with_author_and_time(fixture: Fixture) {
    let sales = name("sales.rows");
    assert_eq!(fixture.ctl.get(&sales).await.unwrap(), None);
    let done = fixture.change(number("sales.rows", 5)).await.unwrap();
    assert!(done.changed && !done.moved_back);
    assert_eq!((done.before, done.after, done.version), (None, Some(Value::Number(5)), 1));
    let first = fixture.ctl.get(&sales).await.unwrap().unwrap();
    assert_eq!(first.at.as_millisecond(), 1_700_000_000_000);

    fixture.now.fetch_add(1, Ordering::SeqCst);
    fixture.ctl.set(vec![number("sales.rows", 7)], "boris", "more came").await.unwrap();
    let Current { value, version, author, at } = fixture.ctl.get(&sales).await.unwrap().unwrap();
    assert_eq!((value, version, author.as_str()), (Value::Number(7), 2, "boris"));
    assert_eq!(at.as_millisecond(), 1_700_000_000_001);

    let gone = fixture.change(Change::delete(sales.clone())).await.unwrap();
    assert_eq!((gone.before, gone.after, gone.changed), (Some(Value::Number(7)), None, true));
    assert_eq!(fixture.ctl.get(&sales).await.unwrap(), None);
    assert!(!fixture.change(Change::delete(sales)).await.unwrap().changed);
}

pub(crate) async fn moments_are_kept_to_the_nanosecond_also_before_1970(fixture: Fixture) {
    let moments =
        ["1969-12-31T23:59:59.999999999Z", "-009999-01-02T01:59:59Z", "2021-04-25T03:27:33.000000001Z"];
    for (place, text) in moments.iter().enumerate() {
        let parameter = name(&format!("sales.moment{place}"));
        let value = Value::Time(text.parse().unwrap());
        fixture.change(Change::set(parameter.clone(), value)).await.unwrap();
        assert_eq!(fixture.ctl.get(&parameter).await.unwrap().unwrap().value, value);
        assert_eq!(fixture.ctl.history(&parameter, None, 1).await.unwrap()[0].after, Some(value));
    }
    let marked = fixture.ctl.changed(10).await.unwrap();
    assert!(marked.iter().all(|mark| matches!(mark.value, Some(Value::Time(_)))));
}

pub(crate) async fn of_two_writers_who_saw_the_same_version_one_wins(fixture: Fixture) {
    for round in 0..20 {
        let seen = u64::try_from(round).unwrap();
        let write = |value| {
            let ctl = fixture.ctl.clone();
            let change = number("sales.rows", value).expecting(Expected::Version(seen));
            tokio::spawn(async move { ctl.set(vec![change], "anna", "").await })
        };
        let (one, two) = (write(10 * round + 1), write(10 * round + 2));
        let (one, two) = (one.await.unwrap(), two.await.unwrap());
        let (won, lost) = match (one, two) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            other => panic!("one has to win: {other:?}"),
        };
        let refused = matches!(lost, Error::OtherVersion { expected, actual, current, .. }
            if expected == seen && actual == seen + 1 && current == won[0].after);
        assert!(refused && lost.is_other(), "{lost}");
        assert_eq!(fixture.value("sales.rows").await, won[0].after);
    }
}

pub(crate) async fn who_expects_a_value_that_is_gone_is_refused_with_the_one_that_is(fixture: Fixture) {
    let expecting = |value, expected| number("sales.rows", value).expecting(Expected::Value(expected));
    fixture.change(expecting(1, None)).await.unwrap();
    let text = fixture.change(expecting(2, None)).await.unwrap_err().to_string();
    assert_eq!(text, "sales.rows is 1, not no value: read it again, and decide again");
    fixture.change(expecting(2, Some(Value::Number(1)))).await.unwrap();
    let text = fixture.change(expecting(3, Some(Value::Number(1)))).await.unwrap_err().to_string();
    assert_eq!(text, "sales.rows is 2, not 1: read it again, and decide again");
    // Also what would change nothing, and what would delete.
    assert!(fixture.change(expecting(2, Some(Value::Number(1)))).await.is_err());
    let delete = Change::delete(name("sales.rows"));
    assert!(fixture.change(delete.clone().expecting(Expected::Version(1))).await.is_err());
    assert!(fixture.change(delete.expecting(Expected::Version(2))).await.unwrap().changed);
    let text = fixture.change(number("sales.rows", 9).expecting(Expected::Version(2))).await.unwrap_err();
    assert_eq!(
        text.to_string(),
        "sales.rows has version 0 (no value), not 2: read it again, and decide again"
    );
    fixture.change(number("sales.rows", 9).expecting(Expected::Version(0))).await.unwrap();
}

pub(crate) async fn writers_who_expect_nothing_all_get_through(fixture: Fixture) {
    let writers: Vec<_> = (1..=40)
        .map(|value| {
            let ctl = fixture.ctl.clone();
            let change = number("sales.rows", value).moving_back();
            tokio::spawn(async move { ctl.set(vec![change], "anna", "").await })
        })
        .collect();
    let mut versions = Vec::new();
    for writer in writers {
        versions.push(writer.await.unwrap().unwrap()[0].version);
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=40).collect::<Vec<_>>());
    let history = fixture.ctl.history(&name("sales.rows"), None, 100).await.unwrap();
    for pair in history.windows(2) {
        assert_eq!(pair[0].before, pair[1].after, "each change begins where the one before has ended");
    }
}

pub(crate) async fn a_value_moves_back_only_if_that_is_allowed(fixture: Fixture) {
    fixture.change(number("sales.rows", 5)).await.unwrap();
    let error = fixture.change(number("sales.rows", 4)).await.unwrap_err();
    assert!(matches!(error, Error::MovesBack { current: Value::Number(5), wanted: Value::Number(4), .. }));
    let text = error.to_string();
    assert!(text.contains("from 5 to 4") && text.contains("allow the value to move back"), "{text}");
    assert_eq!(fixture.value("sales.rows").await, Some(Value::Number(5)));
    let done = fixture.change(number("sales.rows", 4).moving_back()).await.unwrap();
    assert!(done.moved_back);
    assert!(!fixture.change(number("sales.rows", 6).moving_back()).await.unwrap().moved_back);
    let history = fixture.ctl.history(&name("sales.rows"), None, 10).await.unwrap();
    assert_eq!(
        history.iter().map(|history_entry| history_entry.moved_back).collect::<Vec<_>>(),
        [false, true, false]
    );
}

pub(crate) async fn the_same_value_again_changes_nothing_unless_asked(fixture: Fixture) {
    fixture.change(number("sales.rows", 5)).await.unwrap();
    let marks = fixture.ctl.changed(10).await.unwrap();
    assert_eq!(fixture.ctl.forget_now(&marks).await.unwrap(), 1);
    let again = fixture.change(number("sales.rows", 5)).await.unwrap();
    assert_eq!((again.changed, again.version), (false, 1));
    assert!(fixture.ctl.changed(10).await.unwrap().is_empty());
    assert_eq!(fixture.ctl.history(&name("sales.rows"), None, 10).await.unwrap().len(), 1);
    let asked = fixture.change(number("sales.rows", 5).even_if_same()).await.unwrap();
    assert_eq!((asked.changed, asked.moved_back, asked.version), (true, false, 2));
    assert_eq!(fixture.ctl.changed(10).await.unwrap().len(), 1);
    assert_eq!(fixture.ctl.history(&name("sales.rows"), None, 10).await.unwrap().len(), 2);
}

pub(crate) async fn many_changes_are_made_together_or_not_at_all(fixture: Fixture) {
    let many = |from: i64| (0..1000).map(|i| number(&format!("e{i}.rows"), from + i)).collect::<Vec<_>>();
    let done = fixture.ctl.set(many(0), "anna", "").await.unwrap();
    assert!(
        done.iter()
            .enumerate()
            .all(|(i, done)| done.changed && done.parameter == name(&format!("e{i}.rows")))
    );
    // The last one is refused, so none is made.
    let mut wrong = many(10);
    wrong[999] = number("e999.rows", 1);
    assert!(matches!(fixture.ctl.set(wrong, "anna", "").await, Err(Error::MovesBack { .. })));
    assert_eq!(fixture.value("e0.rows").await, Some(Value::Number(0)));
    let mut wrong = many(10);
    wrong[999] = number("e999.rows", 2000).expecting(Expected::Version(7));
    assert!(fixture.ctl.set(wrong, "anna", "").await.unwrap_err().is_other());
    assert!(fixture.ctl.all().await.unwrap().values().all(|current| current.version == 1));
    // Some of them change, and the others stay what they are.
    let mut some = many(0);
    some[3] = number("e3.rows", 77);
    let done = fixture.ctl.set(some, "anna", "").await.unwrap();
    assert_eq!(done.iter().filter(|done| done.changed).count(), 1);
    assert_eq!(fixture.value("e3.rows").await, Some(Value::Number(77)));
    assert!(fixture.ctl.set(Vec::new(), "anna", "").await.unwrap().is_empty());
}

pub(crate) async fn a_parameter_keeps_its_kind_until_it_is_deleted(fixture: Fixture) {
    let time = Change::set(name("sales.rows"), Value::Time("2021-04-25T00:00:00Z".parse().unwrap()));
    fixture.change(number("sales.rows", 5)).await.unwrap();
    let error = fixture.change(time.clone().moving_back()).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::OtherKind { .. }) && text.contains("5, a number"), "{text}");
    assert!(text.contains("a time") && text.contains("delete the value first"), "{text}");
    fixture.change(Change::delete(name("sales.rows"))).await.unwrap();
    assert!(fixture.change(time).await.unwrap().changed);
    assert!(matches!(fixture.change(number("sales.rows", 5)).await, Err(Error::OtherKind { .. })));
}

pub(crate) async fn versions_go_on_after_a_deletion(fixture: Fixture) {
    fixture.change(number("sales.rows", 5)).await.unwrap();
    assert_eq!(fixture.change(Change::delete(name("sales.rows"))).await.unwrap().version, 2);
    assert_eq!(fixture.change(number("sales.rows", 1)).await.unwrap().version, 3);
    // Who has seen the first value does not take the third one for it.
    assert!(fixture.change(number("sales.rows", 9).expecting(Expected::Version(1))).await.is_err());
}

pub(crate) async fn changes_are_committed_with_what_the_caller_writes(fixture: Fixture) {
    let add = async |change: Change| {
        let mut batch = Batch::new();
        let done = fixture.ctl.add_to(&mut batch, &[change], "anna", "").await.unwrap();
        (batch, done)
    };
    let (batch, done) = add(number("sales.rows", 5)).await;
    assert_eq!((done[0].version, fixture.value("sales.rows").await), (1, None));
    let (late, _) = add(number("sales.rows", 6)).await;
    assert_eq!(fixture.ctl.store().commit(batch).await.unwrap(), Outcome::Applied);
    assert!(!fixture.ctl.store().commit(late).await.unwrap().is_applied());
    // Also what changes nothing holds only as long as the value is the same.
    let (same, done) = add(number("sales.rows", 5)).await;
    assert!(!done[0].changed);
    fixture.change(number("sales.rows", 6)).await.unwrap();
    assert!(!fixture.ctl.store().commit(same).await.unwrap().is_applied());
    assert_eq!(fixture.value("sales.rows").await, Some(Value::Number(6)));
}
