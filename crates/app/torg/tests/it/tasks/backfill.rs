//! Backfills: chunks of the past.

use serde_json::json;

use crate::tasks::rig::Rig;

const DAILY: &str = r#"
timezone: Europe/Moscow
tasks:
  daily:
    when: {new_day: sales.loaded_to}
    retry: {first: 1s, most: 1s}
    run: |
      echo "$TORG_CHUNK_START $TORG_CHUNK_END" >> chunks.txt
      [ "$TORG_CHUNK_START" != "$(cat broken 2> /dev/null)" ]
"#;

#[test]
fn three_days_are_run_in_order_by_the_calendar_of_the_task() {
    let rig = Rig::with(DAILY);
    let said = rig.done(&[
        "backfill",
        "daily",
        "--from",
        "2026-03-01",
        "--to",
        "2026-03-04",
        "--reason",
        "new rules",
    ]);
    let expected =
        "3 days are to be run, one after the other: 2026-02-28T21:00:00Z to 2026-03-03T21:00:00Z\n";
    assert_eq!(said, expected);
    assert_eq!(
        rig.until_lines("chunks.txt", 3),
        [
            "2026-02-28T21:00:00Z 2026-03-01T21:00:00Z",
            "2026-03-01T21:00:00Z 2026-03-02T21:00:00Z",
            "2026-03-02T21:00:00Z 2026-03-03T21:00:00Z",
        ]
    );
    rig.until_ended("daily", 3);
    let history = rig.done(&["history", "daily", "--limit", "100"]);
    assert!(history.contains("told: the backfill has run all 3 chunks"), "{history}");
    assert!(history.contains("new rules"), "{history}");
    assert!(rig.done(&["state", "get", "daily"]).starts_with("nothing is remembered"), "without --record");

    // With a moment in place of a day, another scale and a limit.
    let arguments =
        ["backfill", "daily", "--from", "2026-03-01T05:30+03:00", "--to", "2026-03-05", "--scale", "hour"];
    let said = rig.done(&[&arguments[..], &["--limit", "2", "--reason", "hours"]].concat());
    assert!(
        said.starts_with("2 hours are to be run, one after the other: 2026-03-01T02:00:00Z to"),
        "{said}"
    );
    assert_eq!(rig.until_lines("chunks.txt", 5)[4], "2026-03-01T03:00:00Z 2026-03-01T04:00:00Z");
    rig.until_ended("daily", 5);
}

#[test]
fn a_chunk_that_fails_stops_the_others_until_somebody_goes_on_or_gives_up() {
    let rig = Rig::with(DAILY);
    rig.write("broken", "2026-03-01T21:00:00Z");
    let range =
        ["backfill", "daily", "--from", "2026-03-01", "--to", "2026-03-04", "--record", "--reason", "x"];
    rig.done(&range);
    let explained = rig.until_explained("daily", "stopped: ");
    assert!(
        explained.contains("backfill by local (x): 1 done, next 2026-03-02 00:00, up to 2026-03-04 00:00"),
        "{explained}"
    );
    assert_eq!(rig.lines("chunks.txt").len(), 2, "the third does not run before the second");
    let said = rig.refused(1, &range);
    assert!(said.contains("the task already has a backfill"), "{said}");
    rig.write("broken", "");
    let line = explained.lines().find(|line| line.contains("backfill-resume")).unwrap();
    assert_eq!(rig.paste(line), "the backfill of daily goes on\n");
    assert_eq!(
        rig.until_lines("chunks.txt", 4)[2..],
        ["2026-03-01T21:00:00Z 2026-03-02T21:00:00Z", "2026-03-02T21:00:00Z 2026-03-03T21:00:00Z"]
    );
    rig.until_ended("daily", 4);
    assert!(
        rig.refused(1, &["backfill-resume", "daily", "--reason", "x"]).contains("no backfill of the task")
    );

    rig.write("broken", "2026-02-28T21:00:00Z");
    rig.done(&range);
    let explained = rig.until_explained("daily", "stopped: ");
    let line = explained.lines().find(|line| line.contains("backfill-cancel")).unwrap();
    assert_eq!(rig.paste(line), "the backfill of daily is given up\n");
    assert!(!rig.explain("daily").contains("backfill by"), "{}", rig.explain("daily"));
}

#[test]
fn a_range_that_makes_no_sense_is_refused_with_its_field() {
    let rig =
        Rig::with(&format!("{DAILY}  rows: {{when: {{grew: {{of: shop.rows, by: 1}}}}, run: 'true'}}\n"));
    let ask = |more: &[&str]| {
        let arguments = ["backfill", "daily", "--reason", "x"];
        rig.refused(if more.contains(&"yesterday") { 2 } else { 1 }, &[&arguments, more].concat())
    };
    let days = ["--from", "2026-03-01", "--to", "2026-03-04"];
    for (more, part) in [
        (&["--from", "2026-03-04", "--to", "2026-03-01"][..], "the range is empty"),
        (&["--from", "yesterday", "--to", "2026-03-01"], "in the time zone of the task"),
        (&[&days[..], &["--scale", "fortnight"]].concat(), "fortnight"),
        (&[&days[..], &["--scale", "7m"]].concat(), "7"),
        (&["--from", "0001-01-01", "--to", "2026-03-04", "--scale", "hour"], "more than 100000 chunks"),
    ] {
        let said = ask(more);
        assert!(said.contains(part), "{more:?}: {said}");
    }
    let said = rig.refused(1, &[&["backfill", "rows", "--reason", "x"][..], &days].concat());
    assert!(said.contains("scale: it is not clear which chunks to fill"), "{said}");
    let (from, to) = ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
    for (request, reason, field) in [
        (json!({"task": "daily", "reason": "x", "to": to}), "REQUIRED", "from"),
        (
            json!({"task": "daily", "reason": "x", "from": from, "fromDay": "2026-03-01", "to": to}),
            "NOT_ALLOWED",
            "from_day",
        ),
        (json!({"task": "daily", "reason": "x", "from": from, "toDay": "soon"}), "WRONG_DAY", "to_day"),
        (
            json!({"task": "daily", "reason": "x", "from": from, "to": to, "limit": 100_001}),
            "OUT_OF_RANGE",
            "limit",
        ),
        (json!({"task": "daily", "from": from, "to": to}), "REQUIRED", "reason"),
    ] {
        let expected = ("invalid_argument".to_owned(), reason.to_owned(), field.to_owned());
        assert_eq!(rig.reason("StartBackfill", &request), expected, "{request}");
    }
}
