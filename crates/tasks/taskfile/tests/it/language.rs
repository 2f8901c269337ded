//! What the words of the language mean.

use crate::common::{codes, read, sound, task, when};
use jiff::SignedDuration;
use jiff::civil::Weekday;
use std::fmt::Write;
use taskfile::{Action, Code, Done, Program, SetTo, TaskSet, Template, limits};
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger};

fn parameter(name: &str) -> Parameter {
    name.parse().unwrap()
}

fn leaf(of: &str, check: Check) -> Leaf {
    Leaf { of: parameter(of), check }
}

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

#[test]
fn every_condition_means_its_check() {
    let with = || parameter("a.q");
    let named = [
        ("hour", Scale::Hour),
        ("day", Scale::Day),
        ("week", Scale::Week),
        ("month", Scale::Month),
        ("year", Scale::Year),
    ];
    let mut table = vec![
        ("grew: {of: a.p, by: 6h}".to_owned(), Check::Delta { by: Amount::Time(hours(6)) }),
        ("grew: {of: a.p, by: 2d}".to_owned(), Check::Delta { by: Amount::Time(hours(48)) }),
        ("grew: {of: a.p, by: 1000}".to_owned(), Check::Delta { by: Amount::Number(1000) }),
        ("fresh: {of: a.p, within: 3h}".to_owned(), Check::Delay { within: hours(3) }),
        ("fresh: {of: a.p, within: 0s}".to_owned(), Check::Delay { within: hours(0) }),
        (
            "caught_up: {of: a.p, with: a.q, within: 1h}".to_owned(),
            Check::RefDelay { with: with(), within: Amount::Time(hours(1)) },
        ),
        (
            "caught_up: {of: a.p, with: a.q, within: 0}".to_owned(),
            Check::RefDelay { with: with(), within: Amount::Number(0) },
        ),
        (
            "new_chunk: {of: a.p, chunk: 30m, by: 3}".to_owned(),
            Check::ChunkDelta { scale: Scale::Minutes(30), by: Some(3) },
        ),
        (
            "new_chunk: {of: a.p, chunk: 2h}".to_owned(),
            Check::ChunkDelta { scale: Scale::Minutes(120), by: None },
        ),
        ("new_chunk: {of: a.p, chunk: 60m}".to_owned(), Check::ChunkDelta { scale: Scale::Hour, by: None }),
        (
            "this_chunk: {of: a.p, chunk: 15m, within: 1}".to_owned(),
            Check::ChunkDelay { scale: Scale::Minutes(15), within: Some(1) },
        ),
        (
            "same_chunk: {of: a.p, with: a.q, chunk: day, within: 0}".to_owned(),
            Check::ChunkRefDelay { with: with(), scale: Scale::Day, within: Some(0) },
        ),
        ("today: a.p".to_owned(), Check::ChunkDelay { scale: Scale::Day, within: None }),
        ("today: {of: a.p, within: 1}".to_owned(), Check::ChunkDelay { scale: Scale::Day, within: Some(1) }),
        // One day later is a later day.
        ("new_day: {of: a.p, by: 1}".to_owned(), Check::ChunkDelta { scale: Scale::Day, by: None }),
    ];
    for (name, scale) in named {
        table.push((format!("new_{name}: a.p"), Check::ChunkDelta { scale, by: None }));
        table.push((format!("new_{name}: {{of: a.p, by: 2}}"), Check::ChunkDelta { scale, by: Some(2) }));
        table.push((
            format!("same_{name}: {{of: a.p, with: a.q}}"),
            Check::ChunkRefDelay { with: with(), scale, within: None },
        ));
        if name != "day" {
            table.push((format!("this_{name}: a.p"), Check::ChunkDelay { scale, within: None }));
        }
    }
    for (condition, check) in table {
        assert_eq!(
            when(&format!("{{{condition}}}")).trigger,
            Trigger::Leaf(leaf("a.p", check)),
            "{condition}"
        );
    }
}

fn new_day(of: &str) -> Leaf {
    leaf(of, Check::ChunkDelta { scale: Scale::Day, by: None })
}

#[test]
fn aggregates_of_the_same_kind_are_one_and_aggregates_of_one_are_none() {
    let nested =
        when("{all: [{new_day: a.b}, {all: [{new_day: c.d}, {any: [{new_day: e.f}, {new_day: g.h}]}]}]}");
    let any = Group::Of(vec![new_day("e.f"), new_day("g.h")]);
    assert_eq!(
        nested.trigger,
        Trigger::All(vec![Group::Leaf(new_day("a.b")), Group::Leaf(new_day("c.d")), any])
    );
    assert_eq!(when("{any: [{all: [{new_day: a.b}]}]}").trigger, Trigger::Leaf(new_day("a.b")));
    // What is deep only in its writing is not too deep.
    let written = when("{all: [{new_day: a.b}, {any: [{all: [{new_day: c.d}]}, {new_day: e.f}]}]}");
    let any = Group::Of(vec![new_day("c.d"), new_day("e.f")]);
    assert_eq!(written.trigger, Trigger::All(vec![Group::Leaf(new_day("a.b")), any]));
}

#[test]
fn a_shorthand_is_what_it_stands_for_wherever_it_is_defined() {
    let shorthands = "shorthands:\n  loaded:\n    parameters: [table, lag: 6h, column: loaded_to]\n    \
                      when: {all: [{new_day: $table.$column}, {fresh: {of: '${table}.loaded_to', within: $lag}}]}\n";
    let uses = "tasks:\n  a: {when: {loaded: dwh.sales}, run: x}\n  b: {when: {loaded: {table: s, lag: 1d, column: c}}, run: x}\n";
    let files = |first: &str, second: &str| {
        TaskSet::read(vec![("a".to_owned(), first.to_owned()), ("b".to_owned(), second.to_owned())]).unwrap()
    };
    for set in [files(shorthands, uses), files(uses, shorthands)] {
        let expected = |day: &str, fresh: &str, within| {
            Trigger::All(vec![Group::Leaf(new_day(day)), Group::Leaf(leaf(fresh, Check::Delay { within }))])
        };
        let trigger = |name: &str| set.get(name).unwrap().trigger.clone();
        assert_eq!(trigger("a"), expected("dwh.sales.loaded_to", "dwh.sales.loaded_to", hours(6)));
        assert_eq!(trigger("b"), expected("s.c", "s.loaded_to", hours(24)));
    }
}

#[test]
fn a_broken_shorthand_is_told_once_however_often_it_is_used() {
    let mut text =
        "shorthands:\n  stale: {parameters: [p], when: {fresh: {of: $p, within: 3x}}}\ntasks:\n".to_owned();
    for number in 0..50 {
        let _ = writeln!(text, "  t{number}: {{when: {{stale: a.b}}, run: x}}");
    }
    assert_eq!(codes(&read(&text).unwrap_err()), [Code::BadDuration]);
}

#[test]
fn what_is_not_said_gets_its_default() {
    let task = when("{new_day: a.b}");
    assert_eq!(task.run.timeout, limits::TIMEOUT_DEFAULT);
    assert_eq!((task.priority, task.pool.as_deref(), task.paused), (0, None, false));
    assert_eq!(task.hold_back, limits::HOLD_BACK_DEFAULT);
    assert_eq!(
        (task.retry.first, task.retry.most, task.retry.attempts),
        (SignedDuration::from_secs(30), hours(1), 10)
    );
    assert_eq!(task.calendar, triggers::Calendar::default());
    assert_eq!(task.origin.to_string(), "tasks.yaml:3:3");
}

#[test]
fn a_task_comes_before_its_file_and_its_file_before_all_files() {
    let all = "timezone: Europe/Moscow\nweek_start: sunday\nlimits: {running: 3, pools: {p: 1, q: 2}}\n";
    let file = "defaults: {timezone: Asia/Kathmandu, pool: p, owner: ann, labels: {a: 1, b: 2}, retry: {attempts: 5}, timeout: 2h, \
                environment: {A: '1', B: '2'}, directory: /srv, max_silence: 1d, hold_back: 0s, priority: 7, paused: true}\n\
                tasks:\n  mine: {when: {new_day: a.b}, run: x}\n  own:\n    when: {new_day: a.b}\n    timezone: UTC\n    day_offset: -2h\n    \
                pool: q\n    labels: {b: 3}\n    retry: {first: 2h}\n    run: {shell: x, environment: {B: '3'}, timeout: 5m}\n    paused: false\n";
    let other = "tasks:\n  other: {when: {new_day: a.b}, run: x}\n";
    let files = [("all", all), ("file", file), ("other", other)];
    let set =
        TaskSet::read(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
            .unwrap();
    assert_eq!((set.limits().running, set.limits().pools.len()), (3, 2));
    let zone = |name: &str| set.get(name).unwrap().calendar.zone().iana_name().unwrap().to_owned();
    assert_eq!([zone("mine"), zone("own"), zone("other")], ["Asia/Kathmandu", "UTC", "Europe/Moscow"]);
    let (mine, own, other) = (set.get("mine").unwrap(), set.get("own").unwrap(), set.get("other").unwrap());
    assert_eq!(own.calendar.week_start(), Weekday::Sunday);
    assert_eq!(own.calendar.day_offset(), hours(-2));
    assert_eq!(
        (mine.pool.as_deref(), own.pool.as_deref(), other.pool.as_deref()),
        (Some("p"), Some("q"), None)
    );
    assert_eq!((own.labels["a"].as_str(), own.labels["b"].as_str()), ("1", "3"));
    assert_eq!((own.retry.attempts, own.retry.first, own.retry.most), (5, hours(2), hours(2)));
    assert_eq!((mine.paused, own.paused, mine.priority, mine.owner.as_str()), (true, false, 7, "ann"));
    assert_eq!((mine.hold_back, mine.max_silence), (hours(0), Some(hours(24))));
    let Action::Command(command) = &own.run.action else { panic!("{:?}", own.run) };
    let variable = |name: &str| command.environment[name].to_string();
    assert_eq!(
        (variable("A"), variable("B"), command.directory.as_deref()),
        ("1".into(), "3".into(), Some("/srv"))
    );
    assert_eq!((mine.run.timeout, own.run.timeout), (hours(2), SignedDuration::from_mins(5)));
}

#[test]
fn runs_are_read_in_all_their_forms() {
    let program = |run: &str| match task(&format!("when: {{new_day: a.b}}\n    run: {run}")).run.action {
        Action::Command(command) => command.program,
        other => panic!("{other:?}"),
    };
    assert_eq!(program("./a.sh $X"), Program::Shell("./a.sh $X".into()));
    assert_eq!(program("{shell: ./a.sh}"), Program::Shell("./a.sh".into()));
    assert_eq!(program("[a, 'b c', 5]"), Program::Arguments(vec!["a".into(), "b c".into(), "5".into()]));
    assert_eq!(program("{command: [a]}"), Program::Arguments(vec!["a".into()]));
    let http = |run: &str| match task(&format!("when: {{new_day: a.b}}\n    run: {{http: {run}}}")).run.action
    {
        Action::Http(call) => call,
        other => panic!("{other:?}"),
    };
    let short = http("https://jobs.example/run?a=b");
    assert_eq!(
        (short.method.as_str(), short.url.as_str(), short.done),
        ("POST", "https://jobs.example/run?a=b", Done::Response)
    );
    let long =
        http("{url: 'http://jobs.example', method: PUT, headers: {X-Team: a}, body: '', done: callback}");
    assert_eq!(
        (long.method.as_str(), long.url.as_str(), long.done),
        ("PUT", "http://jobs.example/", Done::Callback)
    );
    assert_eq!(long.body, Some(Template::parse("").unwrap()));
    assert_eq!(long.headers.keys().collect::<Vec<_>>(), ["x-team"]);
    let every = SignedDuration::from_secs(5);
    let poll =
        http("{url: 'http://jobs.example', done: {poll: {url: 'http://jobs.example/state', every: 5s}}}");
    assert_eq!(poll.done, Done::Poll { url: Some("http://jobs.example/state".into()), every });
    let grpc = task("when: {new_day: a.b}\n    run: {grpc: 'http://runner:7070'}").run.action;
    assert!(matches!(grpc, Action::Grpc(call) if call.address == "http://runner:7070"));
}

#[test]
fn sets_take_what_was_seen_the_moment_or_a_number() {
    let task = task(
        "when: {same_day: {of: a.b, with: c.d}}\n    run: x\n    sets: {x.a: c.d, x.b: now, x.c: -3}\n    produces: [x.a, y.z]",
    );
    let set = |name: &str| task.sets[&parameter(name)].clone();
    assert_eq!(set("x.a"), SetTo::Seen(parameter("c.d")));
    assert_eq!((set("x.b"), set("x.c")), (SetTo::Now, SetTo::Number(-3)));
    assert_eq!(task.produces.iter().collect::<Vec<_>>(), [&parameter("y.z")]);
    assert_eq!(task.outputs().count(), 4);
}

#[test]
fn tasks_are_found_by_what_they_read_and_by_what_they_move() {
    let set = sound(
        "tasks:\n  a: {when: {new_day: s.x}, run: x, sets: {r.x: s.x}}\n  b: {when: {same_day: {of: r.x, with: s.x}}, run: x, max_silence: 1d}\n  \
         c: {when: {new_day: s.y}, run: x, produces: r.x}\n",
    );
    let names = |names: &[taskfile::TaskName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(set.readers_of(&parameter("s.x"))), ["a", "b"]);
    assert_eq!(names(set.readers_of(&parameter("r.x"))), ["b"]);
    assert_eq!(names(set.writers_of(&parameter("r.x"))), ["a", "c"]);
    assert!(set.readers_of(&parameter("no.body")).is_empty());
    assert_eq!(set.parameters().count(), 3);
}

#[test]
fn empty_files_and_files_without_tasks_are_fine() {
    for text in ["", "# nothing\n", "---\n", "tasks:\n", "timezone: UTC\n", "\u{feff}tasks: {}\r\n"] {
        assert!(sound(text).is_empty(), "{text:?}");
    }
}
