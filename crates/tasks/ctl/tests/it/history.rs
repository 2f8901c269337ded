//! Histories are kept and cut.

use std::sync::atomic::Ordering;

use ctl::limits::{CHANGES_MAX, HISTORY_PORTION};
use ctl::{Change, Ctl, HistoryEntry};
use triggers::Value;

use crate::fixture::{Fixture, name, number};

pub(crate) async fn every_change_stands_in_the_history_the_newest_first(fixture: Fixture) {
    let sales = name("sales.rows");
    fixture.ctl.set(vec![number("sales.rows", 5)], "anna", "first load").await.unwrap();
    fixture.now.fetch_add(1000, Ordering::SeqCst);
    fixture.ctl.set(vec![number("sales.rows", 3).moving_back()], "boris", "loaded twice").await.unwrap();
    fixture.ctl.set(vec![Change::delete(sales.clone())], "vera", "").await.unwrap();
    // Another parameter of the same entity has a history of its own.
    fixture.change(number("sales.rows2", 8)).await.unwrap();
    let history = fixture.ctl.history(&sales, None, 10).await.unwrap();
    assert_eq!(history.iter().map(|history_entry| history_entry.version).collect::<Vec<_>>(), [3, 2, 1]);
    let HistoryEntry { author, at, before, after, moved_back, reason, .. } = &history[1];
    assert_eq!((author.as_str(), reason.as_str(), *moved_back), ("boris", "loaded twice", true));
    assert_eq!((*before, *after), (Some(Value::Number(5)), Some(Value::Number(3))));
    assert_eq!(at.as_millisecond(), 1_700_000_001_000);
    assert_eq!((history[0].after, history[0].moved_back), (None, false));
    assert_eq!(fixture.ctl.history(&sales, None, 2).await.unwrap(), history[..2]);
    assert_eq!(fixture.ctl.history(&sales, Some(3), 1).await.unwrap(), history[1..2]);
    assert_eq!(fixture.ctl.history(&sales, Some(u64::MAX), 10).await.unwrap(), history);
    assert!(fixture.ctl.history(&sales, Some(1), 10).await.unwrap().is_empty());
}

async fn versions(ctl: &Ctl, parameter: &str) -> Vec<u64> {
    let history = ctl.history(&name(parameter), None, 10_000).await.unwrap();
    history.iter().map(|history_entry| history_entry.version).collect()
}

/// The versions from the newest to the oldest that is left, without a gap.
fn without_gap(newest: u64, rows: usize) -> Vec<u64> {
    (0..rows as u64).map(|back| newest - back).collect()
}

pub(crate) async fn an_old_history_is_cut_in_portions_and_what_is_kept_has_no_gap(fixture: Fixture) {
    let ctl = fixture.with(10);
    let most = 10 + usize::try_from(HISTORY_PORTION).unwrap() - 1;
    let mut lengths = Vec::new();
    for version in 1..=300_u64 {
        ctl.set(vec![number("sales.rows", version.cast_signed())], "anna", "").await.unwrap();
        if version % 7 == 0 || version >= 270 {
            let kept = versions(&ctl, "sales.rows").await;
            assert_eq!(kept, without_gap(version, kept.len()));
            assert!(
                kept.len() >= usize::try_from(version.min(10)).unwrap() && kept.len() <= most,
                "{version}"
            );
            lengths.push(kept.len());
        }
    }
    assert!(
        lengths.windows(2).filter(|pair| pair[1] < pair[0]).count() >= 3,
        "it is cut now and then: {lengths:?}"
    );
}

pub(crate) async fn a_history_that_is_to_be_shorter_becomes_so(fixture: Fixture) {
    let long = fixture.with(1000);
    for value in 1..=400 {
        long.set(vec![number("sales.rows", value)], "anna", "").await.unwrap();
    }
    assert_eq!(versions(&long, "sales.rows").await.len(), 400);
    let short = fixture.with(10);
    for value in 401..=403 {
        short.set(vec![number("sales.rows", value)], "anna", "").await.unwrap();
    }
    let kept = versions(&short, "sales.rows").await;
    assert!(kept.len() >= 10 && kept.len() < 10 + usize::try_from(HISTORY_PORTION).unwrap());
    assert_eq!(kept, without_gap(403, kept.len()));
}

pub(crate) async fn histories_of_many_values_at_once_are_cut_within_one_batch(fixture: Fixture) {
    let ctl = fixture.with(1);
    let portion = HISTORY_PORTION.cast_signed();
    for value in 1..=2 * portion + 10 {
        let all = (0..CHANGES_MAX).map(|i| number(&format!("e{i}.rows"), value)).collect();
        ctl.set(all, "anna", "").await.unwrap();
    }
    for place in [0, CHANGES_MAX / 2, CHANGES_MAX - 1] {
        let kept = versions(&ctl, &format!("e{place}.rows")).await;
        assert_eq!(kept, without_gap(2 * portion.unsigned_abs() + 10, kept.len()));
        assert!(kept.len() <= 2 * usize::try_from(portion).unwrap(), "{place}: {}", kept.len());
    }
}
