use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::config::StageLimits;
use crate::stage::StageError;

fn at(ms: i64) -> Time {
    Time::from_ms(ms)
}

/// One stage whose queues in one shard are told by the test.
struct Told {
    scheduler: Scheduler,
    named: usize,
}

impl Told {
    fn new(limits: StageLimits) -> Self {
        let mut scheduler = Scheduler::new(vec![StageState::new(limits)]);
        scheduler.serve(&BTreeSet::from([0]), 1, at(0));
        let mut told = Self { scheduler, named: 0 };
        for line in Line::ALL {
            told.fill(line, 0);
        }
        told
    }

    /// Has so many entities wait in a line.
    fn fill(&mut self, line: Line, count: usize) {
        self.named += 1000;
        let due = (0..count).map(|n| (at(0), Arc::from(format!("e{}", self.named + n)))).collect();
        let id = QueueId { stage: 0, line, shard: 0 };
        self.scheduler.queues.scanned(id, Scanned { due, later: None, low: at(0) });
    }

    fn next(&mut self, ms: i64) -> Result<(Line, usize), Blocked> {
        let next = self.scheduler.next_call(0, at(ms), |_, _| Fit::Free)?;
        Ok((next.line, next.items.len()))
    }
}

fn limits() -> StageLimits {
    StageLimits { calls_max: 4, batch_max: 10, ..StageLimits::default() }
}

#[test]
fn every_answer_but_a_call_has_a_name() {
    let mut told = Told::new(StageLimits { rate: Some(100.0), calls_max: 1, ..limits() });
    assert_eq!(told.next(0), Err(Blocked::Nothing));
    told.fill(Line::Fresh, 60);
    assert_eq!(told.next(0), Ok((Line::Fresh, 10)));
    assert_eq!(told.next(0), Err(Blocked::Calls));
    told.scheduler.call_ended(0, Line::Fresh, Duration::ZERO);
    assert_eq!(told.next(0), Ok((Line::Fresh, 10)));
    told.scheduler.call_ended(0, Line::Fresh, Duration::ZERO);
    assert_eq!(told.next(0), Ok((Line::Fresh, 5)), "a quarter of a second's visits may come at once");
    told.scheduler.call_ended(0, Line::Fresh, Duration::ZERO);
    assert_eq!(told.next(0), Err(Blocked::Rate(at(11))));
    assert_eq!(told.next(11), Ok((Line::Fresh, 1)));
    told.scheduler.call_ended(0, Line::Fresh, Duration::ZERO);
    told.scheduler.set_paused(0, true, at(20));
    assert_eq!(told.next(99), Err(Blocked::Paused));
    told.scheduler.set_paused(0, false, at(99));
    let busy = told.scheduler.next_call(0, at(200), |_, _| Fit::Busy);
    assert_eq!(busy.unwrap_err(), Blocked::Busy);
    assert_eq!(told.scheduler.stages[0].blocked, Some(Blocked::Busy), "and it is remembered");
}

#[test]
fn fresh_work_goes_first_and_finds_a_free_call_whatever_else_is_under_way() {
    let mut told = Told::new(limits());
    for line in [Line::Timer, Line::Background] {
        told.fill(line, 60);
    }
    let mut begun: BTreeMap<Line, usize> = BTreeMap::new();
    while let Ok((line, _)) = told.next(0) {
        *begun.entry(line).or_default() += 1;
    }
    assert_eq!(begun.values().sum::<usize>(), 3, "{begun:?}");
    told.fill(Line::Fresh, 5);
    assert_eq!(told.next(0), Ok((Line::Fresh, 5)), "although nothing has ended");
}

#[test]
fn the_background_has_its_share_beside_fresh_work_that_never_ends() {
    let mut told = Told::new(limits());
    let mut visits: BTreeMap<Line, usize> = BTreeMap::new();
    for _ in 0..1000 {
        told.fill(Line::Fresh, 60);
        told.fill(Line::Background, 60);
        let (line, count) = told.next(0).unwrap();
        *visits.entry(line).or_default() += count;
        told.scheduler.call_ended(0, line, Duration::ZERO);
    }
    let part = visits[&Line::Background] as f64 / 10_000.0;
    assert!((0.05..0.15).contains(&part), "{visits:?}");
}

#[test]
fn late_timers_come_at_their_own_pace_and_hold_up_no_others() {
    let mut told = Told::new(StageLimits { catch_up: Some(8.0), ..limits() });
    told.fill(Line::Late, 60);
    assert_eq!(told.next(0), Ok((Line::Late, 2)));
    assert!(matches!(told.next(0), Err(Blocked::Rate(_))));
    told.fill(Line::Timer, 1);
    assert_eq!(told.next(0), Ok((Line::Timer, 1)));
    assert_eq!(told.next(1000), Ok((Line::Late, 2)));
}

#[test]
fn a_stage_that_is_down_is_probed_with_one_entity_at_a_time() {
    let mut told = Told::new(limits());
    told.fill(Line::Fresh, 60);
    let entities: Vec<Arc<str>> = (0..9).map(|n| Arc::from(format!("e{n}"))).collect();
    for _ in 0..9 {
        told.scheduler.stages[0].health.silent(
            entities.iter(),
            &StageError::Passing("gone".to_owned()),
            at(0),
        );
    }
    assert_eq!(told.next(500), Err(Blocked::Down(at(1000))));
    let probe = told.scheduler.next_call(0, at(1000), |_, _| Fit::Free).unwrap();
    assert!(probe.probe && probe.items.len() == 1);
    assert!(matches!(told.next(1000), Err(Blocked::Down(_))), "one probe at a time");
    told.scheduler.call_ended(0, probe.line, Duration::ZERO);
    told.scheduler.answered(0, at(1500));
    assert_eq!(told.next(1500), Ok((Line::Fresh, 10)));
    assert_eq!(
        told.scheduler.queues.late_before(0, 0),
        at(1500),
        "its timers that came due meanwhile are late"
    );
}

#[test]
fn a_process_has_the_part_of_the_limits_that_its_shards_are_of_all() {
    let mut told = Told::new(StageLimits { rate: Some(100.0), calls_max: 8, ..limits() });
    told.scheduler.serve(&BTreeSet::from([0]), 4, at(0));
    told.fill(Line::Fresh, 60);
    let state = &mut told.scheduler.stages[0];
    assert_eq!(state.calls_max(), 2);
    let (mut now, mut visits) = (at(0), 0);
    while now < at(10_000) {
        visits += state.room(now).map_or(0, |room| room.visits);
        if let Ok(room) = state.room(now) {
            state.took(Line::Fresh, room.visits, |_| false);
            state.ended(Line::Fresh, Duration::ZERO);
        }
        now = now + Duration::from_millis(10);
    }
    assert!((240..270).contains(&visits), "{visits}");
}

#[test]
fn what_stands_in_the_way_is_remembered_by_line() {
    let of = |told: &Told| Line::ALL.map(|line| told.scheduler.stages[0].blocked_in(line));
    let mut told = Told::new(StageLimits { calls_max: 16, ..limits() });
    told.fill(Line::Background, 60);
    assert_eq!(told.next(0), Ok((Line::Background, 3)), "a quarter of ten entities");
    assert_eq!(told.next(0), Err(Blocked::Calls), "the background has one call of sixteen");
    assert_eq!(of(&told), [None, None, None, Some(Blocked::Calls)]);
    told.fill(Line::Fresh, 10);
    assert_eq!(told.next(0), Ok((Line::Fresh, 10)));
    assert_eq!(told.next(0), Err(Blocked::Calls));
    assert_eq!(of(&told), [None, None, None, Some(Blocked::Calls)], "fresh work is not held up by it");

    let mut told = Told::new(StageLimits { rate: None, catch_up: Some(8.0), ..limits() });
    told.fill(Line::Fresh, 1);
    told.fill(Line::Late, 60);
    let busy = |told: &mut Told| told.scheduler.next_call(0, at(0), |_, _| Fit::Busy).unwrap_err();
    assert_eq!(busy(&mut told), Blocked::Busy);
    assert_eq!(of(&told), [Some(Blocked::Busy), None, Some(Blocked::Busy), None]);
    while told.next(0).is_ok() {}
    let [None, None, Some(Blocked::Rate(_)), None] = of(&told) else { panic!("{:?}", of(&told)) };
    told.fill(Line::Timer, 1);
    told.scheduler.set_paused(0, true, at(0));
    assert_eq!(told.next(0), Err(Blocked::Paused));
    let paused = Some(Blocked::Paused);
    assert_eq!(of(&told), [None, paused.clone(), paused, None], "where something is due");
}

#[test]
fn it_is_remembered_which_timers_are_late() {
    let mut told = Told::new(limits());
    let late = |told: &Told| (told.scheduler.stages[0].late_before, told.scheduler.queues.late_before(0, 0));
    assert_eq!(late(&told), (at(0), at(0)));
    told.scheduler.serve(&BTreeSet::from([0]), 1, at(5));
    assert_eq!(late(&told), (at(0), at(0)), "the shard was there already");
    told.scheduler.set_paused(0, true, at(10));
    told.scheduler.set_paused(0, false, at(20));
    assert_eq!(late(&told), (at(20), at(20)));
    told.scheduler.serve(&BTreeSet::from([0, 1]), 2, at(30));
    assert_eq!(late(&told), (at(30), at(20)), "it is a time for all shards");
}
