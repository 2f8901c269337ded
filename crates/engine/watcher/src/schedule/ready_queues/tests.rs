use proptest::prelude::*;

use super::*;

fn at(ms: i64) -> Time {
    Time::from_ms(ms)
}

fn queue(shard: u32) -> QueueId {
    QueueId { shard, stage: 0, line: Line::Fresh }
}

fn rows(names: &[(i64, &str)]) -> Vec<(Time, Arc<str>)> {
    names.iter().map(|(ms, name)| (at(*ms), Arc::from(*name))).collect()
}

fn queues(shards: u32) -> ReadyQueues {
    let mut queues = ReadyQueues::new(1);
    queues.serve(&(0..shards).collect(), at(0));
    for id in queues.next_scans(at(0), usize::MAX) {
        queues.scanned(id, Scanned::default());
    }
    queues
}

fn found(names: &[(i64, &str)], later: Option<i64>) -> Scanned {
    Scanned { due: rows(names), later: later.map(at), low: at(0) }
}

fn add(queues: &mut ReadyQueues, shard: u32, ms: i64, name: &str, now: i64) {
    queues.added(queue(shard), at(ms), &Arc::from(name), at(now));
}

fn take(queues: &mut ReadyQueues, max: usize) -> Vec<String> {
    queues.take(0, Line::Fresh, max, |_, _| Fit::Free).iter().map(|item| item.entity.to_string()).collect()
}

fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| &*item.entity).collect()
}

#[test]
fn shards_take_turns_however_much_one_of_them_has() {
    let mut queues = queues(2);
    queues.scanned(queue(0), found(&[(1, "a1"), (2, "a2"), (3, "a3")], None));
    queues.scanned(queue(1), found(&[(9, "b1")], None));
    assert_eq!(take(&mut queues, 2), ["a1", "b1"]);
    assert_eq!(take(&mut queues, 9), ["a2", "a3"]);
    assert!(!queues.has_due(0, Line::Fresh));
}

#[test]
fn an_entity_that_is_busy_holds_up_nobody_and_is_taken_when_it_is_free() {
    let mut queues = queues(1);
    let but_a = |_: u32, entity: &Arc<str>| if &**entity == "a" { Fit::Busy } else { Fit::Free };
    queues.scanned(queue(0), found(&[(1, "a"), (2, "b")], None));
    assert_eq!(names(&queues.take(0, Line::Fresh, 9, but_a)), ["b"]);
    assert!(queues.take(0, Line::Fresh, 9, but_a).is_empty());
    assert_eq!(take(&mut queues, 9), ["a"]);
}

#[test]
fn a_queue_is_looked_into_when_its_first_row_is_due_and_not_before() {
    let mut queues = queues(1);
    assert_eq!(queues.next_time(at(5)), None, "nothing but a hint changes anything");
    add(&mut queues, 0, 50, "a", 5);
    add(&mut queues, 0, 70, "b", 5);
    assert_eq!((queues.next_time(at(5)), queues.next_scans(at(49), 9)), (Some(at(50)), vec![]));
    assert_eq!(queues.next_scans(at(50), 9), [queue(0)]);
    queues.scanned(queue(0), found(&[(50, "a")], Some(70)));
    assert_eq!(queues.next_scans(at(99), 9), [], "one row is at hand");
    assert_eq!(queues.next_time(at(99)), None, "so nothing has to be done before it is taken");
    take(&mut queues, 1);
    assert_eq!(queues.next_scans(at(99), 9), [queue(0)]);
}

#[test]
fn a_row_that_is_earlier_than_what_is_at_hand_is_not_overlooked() {
    let mut queues = queues(1);
    queues.scanned(queue(0), found(&[(10, "a"), (20, "b")], Some(30)));
    add(&mut queues, 0, 15, "c", 25);
    add(&mut queues, 0, 15, "c", 25);
    assert_eq!(take(&mut queues, 9), ["a", "c", "b"], "and nothing had to be looked for");
    add(&mut queues, 0, 30, "d", 35);
    assert_eq!(take(&mut queues, 9), [""; 0], "what lies beyond is read from there");
    assert_eq!(queues.next_scans(at(35), 9), [queue(0)]);
}

#[test]
fn what_a_sweep_finds_is_looked_for_if_it_is_not_known() {
    let mut queues = queues(1);
    queues.scanned(queue(0), found(&[], Some(50)));
    queues.swept(queue(0), Some(at(50)));
    queues.swept(queue(0), None);
    assert_eq!(queues.next_time(at(10)), Some(at(50)), "that was known");
    queues.swept(queue(0), Some(at(30)));
    assert_eq!((queues.next_time(at(10)), queues.low(queue(0))), (Some(at(10)), at(-2000)));
    queues.scanned(queue(0), Scanned { due: rows(&[(30, "a")]), later: Some(at(50)), low: at(9000) });
    queues.swept(queue(0), Some(at(40)));
    assert_eq!((take(&mut queues, 9), queues.low(queue(0))), (vec!["a".to_owned()], at(40)));
    assert_eq!(
        queues.next_scans(at(41), 9),
        [queue(0)],
        "there may be more before the next one that is known"
    );
}

#[test]
fn what_is_at_hand_is_bounded_however_much_is_added() {
    let mut queues = queues(1);
    for n in (0..3 * SCAN_ROWS_MAX as i64).rev() {
        add(&mut queues, 0, n, &format!("e{n}"), 10_000);
    }
    let taken = take(&mut queues, usize::MAX);
    assert_eq!((taken.len(), &*taken[0]), (SCAN_ROWS_MAX, "e0"));
    assert_eq!(queues.next_scans(at(10_000), 9), [queue(0)], "the others are looked for");
}

#[test]
fn one_that_must_be_alone_is_taken_alone() {
    let mut queues = queues(2);
    queues.scanned(queue(0), found(&[(1, "a"), (2, "odd"), (3, "b")], None));
    let fit = |_: u32, entity: &Arc<str>| if &**entity == "odd" { Fit::Alone } else { Fit::Free };
    assert_eq!(names(&queues.take(0, Line::Fresh, 9, fit)), ["a", "b"]);
    assert_eq!(names(&queues.take(0, Line::Fresh, 9, fit)), ["odd"]);
    queues.scanned(queue(1), found(&[(1, "odd"), (3, "b")], None));
    assert_eq!(names(&queues.take(0, Line::Fresh, 9, fit)), ["odd"]);
}

#[test]
fn one_that_was_put_back_lets_others_go_first() {
    let mut queues = queues(1);
    queues.scanned(queue(0), found(&[(1, "a"), (2, "b")], None));
    let item = queues.take(0, Line::Fresh, 1, |_, _| Fit::Free).remove(0);
    queues.put_back(queue(0), item);
    assert_eq!(take(&mut queues, 9), ["b", "a"]);
}

#[test]
fn timers_of_a_new_shard_and_of_a_stage_that_was_away_are_late() {
    let mut queues = ReadyQueues::new(2);
    queues.serve(&BTreeSet::from([7]), at(100));
    assert_eq!((queues.late_before(0, 7), queues.late_before(1, 7)), (at(100), at(100)));
    queues.late_until(1, at(500));
    queues.serve(&BTreeSet::from([7, 8]), at(900));
    assert_eq!((queues.late_before(0, 7), queues.late_before(1, 7)), (at(100), at(500)));
    assert_eq!(queues.late_before(1, 8), at(900));
}

#[test]
fn shards_that_are_gone_are_forgotten() {
    let mut queues = queues(3);
    queues.scanned(queue(0), found(&[(1, "a")], None));
    add(&mut queues, 1, 7, "b", 0);
    queues.rescan(queue(2));
    queues.serve(&BTreeSet::new(), at(0));
    assert!(!queues.has_due(0, Line::Fresh));
    assert_eq!((queues.next_time(at(0)), queues.next_scans(at(99), 9)), (None, vec![]));
    queues.scanned(queue(0), found(&[(1, "a")], None));
    assert!(!queues.has_due(0, Line::Fresh), "an answer that comes too late is ignored");
}

proptest! {
    /// Against a model: rows are written, looked for and taken at random. Whatever is due is taken
    /// in the end, each row once.
    #[test]
    fn every_row_that_is_due_is_taken_once(steps in proptest::collection::vec((0u8..4, 0u32..3, 0i64..50), 1..80)) {
        let mut queues = queues(3);
        let mut stored: BTreeMap<u32, BTreeSet<(Time, Arc<str>)>> = BTreeMap::new();
        let (mut now, mut written, mut taken) = (at(0), 0, Vec::new());
        let peek = |queues: &mut ReadyQueues, stored: &BTreeMap<u32, BTreeSet<(Time, Arc<str>)>>, now: Time, limit: usize| {
            for id in queues.next_scans(now, usize::MAX) {
                let low = queues.low(id);
                let mut rows = stored.get(&id.shard).into_iter().flatten().filter(|row| id.line == Line::Fresh && row.0 >= low).peekable();
                let low = rows.peek().map_or(now, |row| row.0);
                let mut due = Vec::new();
                let later = loop {
                    match rows.next() {
                        Some((visit, entity)) if *visit <= now && due.len() < limit => due.push((*visit, entity.clone())),
                        Some((visit, _)) => break Some(*visit),
                        None => break None,
                    }
                };
                queues.scanned(id, Scanned { due, later, low });
            }
        };
        for (what, shard, number) in steps {
            match what {
                0 => {
                    written += 1;
                    let entity: Arc<str> = format!("e{written}").into();
                    stored.entry(shard).or_default().insert((at(number), Arc::clone(&entity)));
                    queues.added(queue(shard), at(number), &entity, now);
                }
                1 => now = now.max(at(number)),
                2 => peek(&mut queues, &stored, now, 2),
                _ => {
                    for item in queues.take(0, Line::Fresh, 2, |_, _| Fit::Free) {
                        prop_assert!(item.visit <= now, "never before its time");
                        prop_assert!(stored.get_mut(&item.shard).unwrap().remove(&(item.visit, item.entity.clone())));
                        taken.push(item.entity);
                    }
                }
            }
        }
        now = at(1000);
        for _ in 0..=written {
            peek(&mut queues, &stored, now, 2);
            for item in queues.take(0, Line::Fresh, 9, |_, _| Fit::Free) {
                prop_assert!(stored.get_mut(&item.shard).unwrap().remove(&(item.visit, item.entity.clone())));
                taken.push(item.entity);
            }
        }
        prop_assert_eq!(taken.len(), written);
    }
}
