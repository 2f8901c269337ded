//! Tests that each problem appears with its cause and disappears with it.

use ::feeds::{LastLoad, Unreachable};
use feeds::FeedName;
use planner::TaskState;
use watcher::{Holder, ProcessSeen};

use super::*;

const NOW: Time = Time::from_ms(1_800_000_000_000);

fn ago(s: u64) -> Time {
    NOW - Duration::from_secs(s)
}

fn codes(seen: &Seen) -> Vec<(Severity, &'static str, String)> {
    let problems = Since::default().problems(seen);
    problems.into_iter().map(|problem| (problem.severity, problem.code, problem.about)).collect()
}

fn one(seen: &Seen) -> Problem {
    let mut problems = Since::default().problems(seen);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

fn with_stage(stage: StageSeen) -> Seen {
    Seen { now: NOW, stages: BTreeMap::from([("price".to_owned(), stage)]), ..Seen::default() }
}

fn served(by: &[&str], holders: &[(u32, &str)]) -> Cluster {
    let holder = |(shard, owner): &(u32, &str)| (*shard, Holder { owner: (*owner).to_owned(), since: NOW });
    Cluster {
        processes: by.iter().map(|name| ((*name).to_owned(), ProcessSeen::default())).collect(),
        holders: holders.iter().map(holder).collect(),
    }
}

#[test]
fn nothing_that_is_known_is_no_problem() {
    assert!(codes(&Seen { now: NOW, ..Seen::default() }).is_empty());
    assert!(codes(&with_stage(StageSeen { oldest_fresh: Some(ago(59)), ..StageSeen::default() })).is_empty());
}

#[test]
fn a_store_that_is_away_is_the_worst_problem_and_keeps_the_time_at_which_it_was_noticed() {
    let store = Some(StoreTrouble::Away("no answer in 2 s".to_owned()));
    let not_ready = vec![("store".to_owned(), "no answer in 2 s".to_owned())];
    let away = |now| Seen { now, store: store.clone(), not_ready: not_ready.clone(), ..Seen::default() };
    let mut since = Since::default();
    let first = since.problems(&away(NOW));
    assert_eq!(first.len(), 1, "it is told once: {first:?}");
    assert_eq!((first[0].code, first[0].severity, first[0].since), ("store_away", Severity::Error, NOW));
    assert!(first[0].text.contains("no answer in 2 s"), "{}", first[0].text);
    let later = NOW + Duration::from_secs(60);
    assert_eq!(since.problems(&away(later))[0].since, NOW);
    assert!(since.problems(&Seen { now: later, ..Seen::default() }).is_empty(), "it answers again");
    assert_eq!(since.problems(&away(later))[0].since, later, "that is another time");
}

#[test]
fn a_store_that_takes_no_writes_is_told_with_what_is_to_be_done() {
    use store::Error;
    let text = || "x".to_owned();
    let told = |trouble| one(&Seen { now: NOW, store: Some(trouble), ..Seen::default() });
    let full = told(StoreTrouble::of(&Error::DiskFull { detail: text() }));
    assert_eq!((full.severity, full.code), (Severity::Error, "store_full"));
    assert!(full.remedy.contains("free some space"), "{}", full.remedy);
    let failed = told(StoreTrouble::of(&Error::Stopped { detail: text() }));
    assert_eq!(failed.code, "store_failed");
    assert!(failed.remedy.contains("start the process again"), "{}", failed.remedy);
    let read_only = told(StoreTrouble::of(&Error::ReadOnly { detail: text() }));
    assert_eq!(read_only.code, "store_read_only");
    // The store answers, but a heartbeat could not be written.
    let unavailable = Error::Unavailable { detail: text() };
    assert_eq!(told(StoreTrouble::of(&unavailable)).code, "store_away");
    assert_eq!(told(StoreTrouble::of_commit(&unavailable)).code, "store_read_only");
    assert_eq!(told(StoreTrouble::of_commit(&Error::DiskFull { detail: text() })).code, "store_full");
}

#[test]
fn a_process_that_is_gone_is_a_note_once_others_serve_what_it_served() {
    let gone = BTreeMap::from([("dead".to_owned(), ago(20))]);
    let seen =
        |cluster| Seen { now: NOW, cluster: Some(cluster), shards: 2, gone: gone.clone(), ..Seen::default() };
    let held = one(&seen(served(&["a", "dead"], &[(0, "a"), (1, "dead")])));
    assert_eq!((held.severity, held.code), (Severity::Warning, "process_gone"));
    assert!(held.remedy.ends_with("and start it again"), "{}", held.remedy);
    let taken = one(&seen(served(&["a"], &[(0, "a"), (1, "a")])));
    assert_eq!((taken.severity, taken.since), (Severity::Note, ago(20)));
    assert!(taken.remedy.contains("unless it runs again"), "{}", taken.remedy);
}

#[test]
fn tasks_that_are_silent_or_regressed_or_that_nobody_decides_about_are_told() {
    let at = |s: i64| Timestamp::from_second(s).unwrap();
    let state = TaskState {
        attempts: 3,
        last_failure: Some(at(50)),
        silent_since: Some(at(60)),
        regressed: BTreeMap::from([("sales.day".parse().unwrap(), at(70))]),
        ..TaskState::new(Timestamp::UNIX_EPOCH)
    };
    let tasks = |state: &TaskState| {
        let mut troubled = Unhealthy::default();
        troubled.note(&"sales".into(), state, true, 10);
        Seen { now: NOW, tasks: TasksSeen { troubled, undecided: true }, ..Seen::default() }
    };
    let mut since = Since::default();
    let told = |problems: Vec<Problem>| -> Vec<(&'static str, Time)> {
        problems.into_iter().map(|problem| (problem.code, problem.since)).collect()
    };
    let wanted = [
        ("tasks_undecided", NOW),
        ("task_failing", Time::from_seconds(50)),
        ("task_silent", Time::from_seconds(60)),
        ("task_regressed", Time::from_seconds(70)),
    ];
    assert_eq!(told(since.problems(&tasks(&state))), wanted);
    // It fails again: the problem keeps the time at which it was first seen.
    let again = TaskState { attempts: 4, last_failure: Some(at(90)), ..state };
    assert_eq!(told(since.problems(&tasks(&again))), wanted);
}

#[test]
fn what_cannot_be_looked_at_and_figures_that_are_left_out_are_told() {
    let unseen = BTreeMap::from([("feeds", "timed out".to_owned()), ("tasks", "x".repeat(1000))]);
    let seen = Seen { now: NOW, unseen, figures_full: true, ..Seen::default() };
    let warning = |code, about: &str| (Severity::Warning, code, about.to_owned());
    let wanted =
        [warning("figures_full", ""), warning("looks_fail", "feeds"), warning("looks_fail", "tasks")];
    assert_eq!(codes(&seen), wanted);
    let problems = Since::default().problems(&seen);
    assert_eq!(problems[1].text, "feeds cannot be looked at: timed out");
    assert!(problems[2].text.chars().count() < 400, "{}", problems[2].text);
}

#[test]
fn commands_are_told_as_a_shell_takes_them() {
    let name = FeedName { seller: "ann; rm -rf ~".to_owned(), namespace: "a b".to_owned() };
    let unreachable = Some(Unreachable { time: NOW, text: "404".to_owned(), attempts: 2 });
    let feed = Surveyed { name, queued: 0, last_load: None, unreachable };
    let remedy = one(&Seen { now: NOW, feeds: vec![feed], ..Seen::default() }).remedy;
    assert!(remedy.contains("`torg feed show --seller 'ann; rm -rf ~' --namespace 'a b'`"), "{remedy}");
    let state = TaskState { attempts: 3, ..TaskState::new(Timestamp::UNIX_EPOCH) };
    let troubled = Unhealthy { failing: vec![("$(id)".into(), state)], ..Unhealthy::default() };
    let tasks = TasksSeen { troubled, undecided: false };
    let remedy = one(&Seen { now: NOW, tasks, ..Seen::default() }).remedy;
    assert!(remedy.starts_with("`torg tasks explain '$(id)'` and `torg tasks log '$(id)'`"), "{remedy}");
}

#[test]
fn topics_that_do_not_answer_are_an_error() {
    let away = one(&Seen { now: NOW, topics_away: Some("timed out".to_owned()), ..Seen::default() });
    assert_eq!((away.severity, away.code), (Severity::Error, "topics_away"));
    assert!(away.text.contains("timed out"));
}

#[test]
fn a_stage_that_is_down_is_told_with_its_error_and_its_queue_is_not_told_besides() {
    let down = Some(Outage { since: ago(300), error: "x".repeat(1000) });
    let problem = one(&with_stage(StageSeen { down, oldest_fresh: Some(ago(299)), ..StageSeen::default() }));
    assert_eq!((problem.code, &*problem.about, problem.since), ("stage_down", "price", ago(300)));
    assert!(problem.text.starts_with("stage price does not answer: xxx") && problem.text.ends_with('…'));
    assert!(problem.text.chars().count() < 400 && problem.remedy.contains("torg stages show price"));
}

#[test]
fn a_pause_is_a_note_and_parked_visits_and_a_late_queue_are_warnings() {
    let pause = Some(Pause { since: ago(10), reason: "too strict".to_owned() });
    let note = one(&with_stage(StageSeen { pause, oldest_fresh: Some(ago(900)), ..StageSeen::default() }));
    assert_eq!((note.severity, note.code, note.since), (Severity::Note, "stage_paused", ago(10)));
    let parked = Depth { rows: 3, more: false };
    let warning = one(&with_stage(StageSeen { parked, ..StageSeen::default() }));
    assert_eq!((warning.severity, warning.code), (Severity::Warning, "stage_parked"));
    assert!(warning.text.contains("3 offers") && warning.remedy.contains("torg stages release price"));
    let late = one(&with_stage(StageSeen { oldest_fresh: Some(ago(240)), ..StageSeen::default() }));
    assert_eq!((late.code, late.since), ("queue_late", ago(240)));
    assert!(late.text.ends_with("due for 4 min"), "{}", late.text);
}

#[test]
fn changes_that_do_not_reach_the_topic_are_an_error_after_a_minute() {
    let seen = |s| Seen { now: NOW, export_oldest: Some(ago(s)), ..Seen::default() };
    assert!(codes(&seen(59)).is_empty());
    assert_eq!(one(&seen(61)).code, "export_late");
}

#[test]
fn a_part_of_the_offers_that_is_on_its_way_to_another_process_is_no_problem_yet() {
    let seen =
        |cluster, s: u64| Seen { now: ago(100 - s), cluster: Some(cluster), shards: 2, ..Seen::default() };
    let mut since = Since::default();
    // One owner is dead, and the other shard has none.
    assert!(since.problems(&seen(served(&["a"], &[(0, "dead")]), 0)).is_empty());
    let found = since.problems(&seen(served(&["a"], &[(0, "dead")]), 6));
    assert_eq!((found[0].code, found[0].since), ("shard_unserved", ago(100)));
    assert!(found[0].text.starts_with("2 of 2 parts"), "{}", found[0].text);
    let found = since.problems(&seen(served(&[], &[]), 8));
    assert!(found[0].text.starts_with("no process serves offers"), "{}", found[0].text);
    assert!(since.problems(&seen(served(&["a"], &[(0, "a"), (1, "a")]), 10)).is_empty());
}

#[test]
fn feeds_tasks_and_processes_are_told_by_their_names_and_no_more_than_a_person_reads() {
    let feed = |n: usize, load, unreachable| Surveyed {
        name: FeedName { seller: "ann".to_owned(), namespace: format!("n{n}") },
        queued: 0,
        last_load: load,
        unreachable,
    };
    let waiting = LastLoad {
        number: 7,
        state: State::STATE_WAITING,
        created: ago(50),
        done: 0,
        would_remove: 30,
        would_remove_of: 40,
    };
    let gone = Unreachable { time: ago(5), text: "404".to_owned(), attempts: 2 };
    let state = TaskState { attempts: 3, ..TaskState::new(Timestamp::UNIX_EPOCH) };
    let failing = vec![("sales".into(), state)];
    let seen = Seen {
        now: NOW,
        feeds: vec![feed(0, Some(waiting), None), feed(1, None, Some(gone.clone()))],
        tasks: TasksSeen { troubled: Unhealthy { failing, ..Unhealthy::default() }, undecided: false },
        gone: BTreeMap::from([("host-1".to_owned(), ago(20))]),
        ..Seen::default()
    };
    let found: Vec<_> = codes(&seen).into_iter().map(|(_, code, about)| (code, about)).collect();
    let wanted = [
        ("load_waits", "ann/n0"),
        ("process_gone", "host-1"),
        ("feed_unreachable", "ann/n1"),
        ("task_failing", "sales"),
    ];
    assert_eq!(found, wanted.map(|(code, about)| (code, about.to_owned())));
    let many = (0..PROBLEMS_OF_A_KIND_MAX + 20).map(|n| feed(n, None, Some(gone.clone()))).collect();
    let found = codes(&Seen { now: NOW, feeds: many, ..Seen::default() });
    assert_eq!(found.len(), PROBLEMS_OF_A_KIND_MAX + 1, "and one that says that there are more");
}

#[test]
fn damage_is_told_beside_what_keeps_the_store_from_answering() {
    let damage = Some("damaged data in offers".to_owned());
    let store = Some(StoreTrouble::Away("no answer in 1 s".to_owned()));
    let found = Since::default().problems(&Seen { now: NOW, damage, store, ..Seen::default() });
    let codes: Vec<_> = found.iter().map(|problem| (problem.severity, problem.code)).collect();
    assert_eq!(codes, [(Severity::Error, "store_away"), (Severity::Error, "store_damaged")]);
    assert!(found[1].text.ends_with("damaged data in offers"), "{}", found[1].text);
    assert!(found[1].remedy.contains("torg store check"), "{}", found[1].remedy);
}

#[test]
fn feeds_that_nobody_serves_are_an_error_once_that_lasts() {
    let seen = |s: u64, unserved| Seen { now: ago(100 - s), feeds_unserved: unserved, ..Seen::default() };
    let mut since = Since::default();
    assert!(since.problems(&seen(0, Some((64, 64)))).is_empty());
    assert!(since.problems(&seen(14, Some((64, 64)))).is_empty());
    let found = since.problems(&seen(15, Some((64, 64))));
    assert_eq!((found[0].severity, found[0].code), (Severity::Error, "feeds_unserved"));
    assert!(found[0].remedy.contains("loader"), "{}", found[0].remedy);
    assert!(since.problems(&seen(20, Some((0, 64)))).is_empty());
    assert!(since.problems(&seen(40, Some((1, 64)))).is_empty(), "that is another time");
}

#[test]
fn loads_and_consumers_that_are_stuck_and_photos_that_are_missing_are_told() {
    let name = FeedName { seller: "ann".to_owned(), namespace: "cars".to_owned() };
    let load = LastLoad {
        number: 7,
        state: State::STATE_QUEUED,
        created: ago(900),
        done: 0,
        would_remove: 0,
        would_remove_of: 0,
    };
    let stuck = vec![Stuck { name, load, for_long: Duration::from_secs(600) }];
    let stuck = one(&Seen { now: NOW, stuck, ..Seen::default() });
    assert_eq!((stuck.severity, stuck.code, &*stuck.about), (Severity::Warning, "load_stuck", "ann/cars"));
    assert!(stuck.text.starts_with("load 7 of feed ann/cars waits to be read"), "{}", stuck.text);
    assert!(stuck.remedy.contains("--seller ann --namespace cars"), "{}", stuck.remedy);

    let (topic, stood_for) = ("moderation".to_owned(), Duration::from_secs(300));
    let stalled = vec![Stalled { consumer: "opinions", topic, messages: 5, stood_for }];
    let stalled = one(&Seen { now: NOW, stalled, ..Seen::default() });
    assert_eq!((stalled.severity, stalled.code), (Severity::Warning, "consumer_stuck"));
    assert!(stalled.text.contains("for 5 min, and 5 messages"), "{}", stalled.text);

    let photos = PhotosSeen { photos: 8, missing: vec!["ab/x.jpg".to_owned()] };
    let missing = one(&Seen { now: NOW, photos, ..Seen::default() });
    assert_eq!((missing.severity, missing.code), (Severity::Error, "photos_missing"));
    assert!(missing.text.contains("1 of the 8") && missing.text.contains("ab/x.jpg"), "{}", missing.text);
}

#[test]
fn what_failed_once_is_not_told_as_several_times() {
    let text = |attempts| {
        let name = FeedName { seller: "ann".to_owned(), namespace: "cars".to_owned() };
        let unreachable = Some(Unreachable { time: NOW, text: "404".to_owned(), attempts });
        let feed = Surveyed { name, queued: 0, last_load: None, unreachable };
        one(&Seen { now: NOW, feeds: vec![feed], ..Seen::default() }).text
    };
    assert_eq!(text(1), "feed ann/cars could not be fetched: 404");
    assert_eq!(text(2), "feed ann/cars could not be fetched 2 times in a row: 404");
}
