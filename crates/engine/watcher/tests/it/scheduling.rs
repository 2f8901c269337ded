//! Scheduling: rates, pauses, stages that do not answer, timers that nobody could serve in time,
//! and what people order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use store::{Batch, Faults, Faulty, Memory, Read, Schema, Store, StoreOptions};
use watcher::{
    Answer, Blocked, Clock, Config, Depth, Entity, Fields, Interest, Lane, LimitOverrides, Schedule, Setup,
    Stage, StageError, StageLimits, Subject, Time, Waits, Watcher,
};

use crate::common::{Doing, Running, SECOND, START, Thing, config, memory, titled};

fn limited(limits: StageLimits) -> Config {
    Config { stages: limits, ..config() }
}

async fn save_many(running: &Running, count: usize) {
    for n in 0..count {
        running.save(&Thing::new(&format!("e{n}"), 1)).await;
    }
}

/// How many visits a stage had between two times, in seconds after the start.
fn visits_between(stage: &Doing, from_s: u64, to_s: u64) -> usize {
    let seconds = from_s * 1000..to_s * 1000;
    let after = |time: Time| time.since(START).as_millis() as u64;
    stage.visits().iter().filter(|(_, time)| seconds.contains(&after(*time))).count()
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_kept_and_explained() {
    let stage = Doing::on("slow", "price", |_| Ok(Answer::untouched()));
    let limits = StageLimits { rate: Some(10.0), ..StageLimits::default() };
    let running = Running::start_with(limited(limits), vec![stage.clone()]).await;
    save_many(&running, 200).await;
    running.pass(10 * SECOND).await;
    let visits = visits_between(&stage, 0, 10);
    assert!((98..=104).contains(&visits), "{visits}");
    let waits = running.explain("e99").await.stages["slow"].waits.clone();
    assert!(matches!(waits, Waits::Blocked(Lane::Fresh, Blocked::Rate(_))), "{waits}");
    let report = running.watcher.report("slow").await.unwrap();
    assert_eq!(report.depth[&Lane::Fresh].rows, 200 - stage.visits().len() as u64);
    assert!((8.0..12.0).contains(&report.processes["one"].visits_per_s), "{report:?}");
    running.pass(20 * SECOND).await;
    assert_eq!(stage.visits().len(), 200);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn limits_can_be_changed_while_it_runs_and_hold_after_a_restart() {
    let stage = Doing::on("slow", "price", |_| Ok(Answer::untouched()));
    let running = Running::start(vec![stage.clone()]).await;
    let rate = |rate| LimitOverrides { rate, ..LimitOverrides::default() };
    running.watcher.set_limits("slow", rate(Some(1.0))).await.unwrap();
    running.pass(SECOND).await;
    save_many(&running, 100).await;
    running.pass(10 * SECOND).await;
    assert!((9..=12).contains(&stage.visits().len()), "{}", stage.visits().len());
    let clock = running.watcher.clock().clone();
    let store = running.stop().await;
    let before = stage.visits().len();
    let running = Running::start_on(store, clock, config(), vec![stage.clone()], "two").await;
    running.pass(10 * SECOND).await;
    assert!(stage.visits().len() - before <= 12, "{}", stage.visits().len());
    running.watcher.set_limits("slow", rate(None)).await.unwrap();
    running.pass(SECOND).await;
    assert_eq!(stage.visits().len(), 100);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn limits_that_cannot_work_are_refused_with_the_reason() {
    let stage =
        || -> Vec<Arc<dyn Stage<Thing>>> { vec![Doing::on("slow", "price", |_| Ok(Answer::untouched()))] };
    let running = Running::start(stage()).await;
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let limits = LimitOverrides { rate: Some(rate), ..LimitOverrides::default() };
        let error = running.watcher.set_limits("slow", limits).await.unwrap_err().to_string();
        assert!(error.contains("\"slow\": rate must be more than 0 in a second"), "{error}");
    }
    let limits = LimitOverrides { calls_max: Some(0), ..LimitOverrides::default() };
    let error = running.watcher.set_limits("slow", limits).await.unwrap_err().to_string();
    assert!(error.contains("one call of one entity at a time at least"), "{error}");
    let error = running.watcher.pause_stage("fast", "").await.unwrap_err().to_string();
    assert!(error.contains("no stage \"fast\"; it has slow"), "{error}");
    let limits = StageLimits { rate: Some(0.0), ..StageLimits::default() };
    let wrong = [
        (Config { stages: limits, ..config() }, "the limits of all stages: rate must be more than 0"),
        (
            Config { limits: BTreeMap::from([("slow".to_owned(), limits)]), ..config() },
            "stage \"slow\": rate must be",
        ),
        (
            Config { limits: BTreeMap::from([("fast".to_owned(), StageLimits::default())]), ..config() },
            "limits for stage \"fast\", but no such stage",
        ),
    ];
    for (config, message) in wrong {
        let opened = Watcher::open(
            &memory(),
            Setup { clock: Clock::starting_at(START), config, stages: stage(), seed: 1, ..Setup::default() },
        )
        .await;
        let error = opened.err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_paused_rests_and_its_timers_are_spread_when_it_goes_on() {
    let timed = Doing::on("timed", "price", |s| {
        let first = s.state.is_empty();
        let answer = Answer::untouched().with_state("seen");
        Ok(if first { answer.visit_at(s.now + 60 * SECOND) } else { answer })
    });
    let limits = StageLimits { catch_up: Some(10.0), ..StageLimits::default() };
    let running = Running::start_with(limited(limits), vec![timed.clone()]).await;
    save_many(&running, 100).await;
    running.pass(10 * SECOND).await;
    assert_eq!(timed.visits().len(), 100);
    running.watcher.pause_stage("timed", "the model is being trained").await.unwrap();
    running.pass(300 * SECOND).await;
    assert_eq!(timed.visits().len(), 100, "nothing is visited");
    let explained = running.explain("e1").await;
    assert_eq!(explained.stages["timed"].waits, Waits::Blocked(Lane::Timer, Blocked::Paused));
    let pause = running.watcher.control("timed").await.unwrap().paused.unwrap();
    assert_eq!(
        (pause.reason.as_str(), pause.since.since(START).as_secs()),
        ("the model is being trained", 10)
    );
    running.watcher.resume_stage("timed").await.unwrap();
    // Fresh work is not held up by what is late.
    running.save(&Thing::new("fresh", 1)).await;
    running.pass(5 * SECOND).await;
    let late = timed.visits().len() - 101;
    assert!((45..=60).contains(&late), "{late}");
    assert_eq!(running.explain("fresh").await.stages["timed"].last.as_ref().unwrap().version, 1);
    running.pass(10 * SECOND).await;
    assert_eq!(timed.visits().len(), 201);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn timers_that_came_due_while_nobody_was_there_are_spread() {
    let timed = Doing::on("timed", "price", |s| {
        let again = (s.version == 1 && s.state.is_empty()).then(|| s.now + 60 * SECOND);
        Ok(Answer { next: again, ..Answer::untouched().with_state("seen") })
    });
    let limits = StageLimits { catch_up: Some(10.0), ..StageLimits::default() };
    let running = Running::start_with(limited(limits), vec![timed.clone()]).await;
    save_many(&running, 100).await;
    running.pass(10 * SECOND).await;
    let clock = running.watcher.clock().clone();
    let store = running.stop().await;
    tokio::time::sleep(3600 * SECOND).await;
    let running = Running::start_on(store, clock, limited(limits), vec![timed.clone()], "two").await;
    running.pass(5 * SECOND).await;
    let late = timed.visits().len() - 100;
    assert!((40..=60).contains(&late), "{late}");
    running.pass(10 * SECOND).await;
    assert_eq!(timed.visits().len(), 200);
    running.stop().await;
}

/// A stage that can be switched off: then its calls hang.
struct Switched {
    id: &'static str,
    ask: bool,
    on: AtomicBool,
    inner: Arc<Doing>,
}

impl Switched {
    fn new(id: &'static str, ask: bool) -> Arc<Self> {
        let inner = Doing::on(id, "price", |_| Ok(Answer::untouched()));
        Arc::new(Self { id, ask, on: AtomicBool::new(false), inner })
    }

    async fn hang_if_off(&self) {
        if !self.on.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl Stage<Thing> for Switched {
    fn id(&self) -> &str {
        self.id
    }

    fn interest(&self) -> Interest {
        Interest { ask: self.ask, ..Interest::visit_on(Fields::of(["price"])) }
    }

    async fn should_process(&self, _: &Subject<Thing>) -> Result<Schedule, StageError> {
        self.hang_if_off().await;
        Ok(Schedule::Now)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        let answer = self.inner.process(subject).await;
        self.hang_if_off().await;
        answer
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_stage_costs_nothing_delays_nobody_and_goes_on_when_it_is_back() {
    for ask in [false, true] {
        let (dead, alive) =
            (Switched::new("dead", ask), Doing::on("alive", "price", |_| Ok(Answer::untouched())));
        let limits = StageLimits { attempts_max: 3, timeout: SECOND, ..StageLimits::default() };
        let running = Running::start_with(limited(limits), vec![dead.clone(), alive.clone()]).await;
        save_many(&running, 500).await;
        running.pass(60 * SECOND).await;
        assert_eq!(alive.visits().len(), 500, "nobody is delayed");
        let explained = running.explain("e400").await.stages["dead"].waits.clone();
        assert!(matches!(explained, Waits::Blocked(Lane::Fresh, Blocked::Down(_))), "{explained}");
        let status = running.watcher.statuses()["dead"].clone();
        assert_eq!(status.down.unwrap().error, "it did not answer within 1s");
        let calls = dead.inner.visits().len();
        running.pass(3600 * SECOND).await;
        let probes = dead.inner.visits().len() - calls;
        assert!((100..=140).contains(&probes), "{probes} probes in an hour");
        let report = running.watcher.report("dead").await.unwrap();
        assert_eq!(report.parked, Depth::default(), "a dead stage is no reason to give up on entities");
        let late = alive.visits().len();
        running.save(&Thing::new("late", 7)).await;
        running.pass(SECOND).await;
        assert_eq!(alive.visits().len(), late + 1, "who changes now is not held up either");
        dead.on.store(true, Ordering::Relaxed);
        running.pass(60 * SECOND).await;
        assert_eq!(running.watcher.statuses()["dead"].down, None);
        assert_eq!(running.watcher.statuses()["dead"].counts.visits, 501);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_hangs_costs_its_neighbours_no_attempt() {
    struct Picky(Arc<Doing>);

    #[async_trait]
    impl Stage<Thing> for Picky {
        fn id(&self) -> &'static str {
            "picky"
        }

        fn interest(&self) -> Interest {
            self.0.interest()
        }

        async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
            if subject.entity.id == "e7" {
                std::future::pending::<()>().await;
            }
            self.0.process(subject).await
        }
    }

    let inner = Doing::on("picky", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    let limits = StageLimits { attempts_max: 1, timeout: SECOND, calls_max: 1, ..StageLimits::default() };
    let store = memory();
    let clock = Clock::starting_at(START);
    let picky: Arc<dyn Stage<Thing>> = Arc::new(Picky(inner));
    let running = Running::start_on(store, clock, limited(limits), vec![picky], "one").await;
    running.watcher.pause_stage("picky", "to have all of them in one call").await.unwrap();
    save_many(&running, 16).await;
    running.watcher.resume_stage("picky").await.unwrap();
    running.pass(60 * SECOND).await;
    for n in (0..16).filter(|n| *n != 7) {
        assert_eq!(running.thing(&format!("e{n}")).await.0.title, "seen");
    }
    let hung = running.explain("e7").await.stages["picky"].clone();
    assert_eq!(hung.waits, Waits::Parked);
    assert_eq!(hung.failed.unwrap().to_string(), "1 failed attempt: it did not answer within 1s");
    assert_eq!(running.watcher.statuses()["picky"].counts.failures, 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_cannot_be_read_is_parked_with_the_reason_and_wakes_when_it_is_mended() {
    for ask in [false, true] {
        let interest = Interest { ask, ..Interest::visit_on(Fields::of(["price"])) };
        let reader = Arc::new(Doing::with("reader", interest, |_| Ok(Answer::untouched())));
        let running = Running::start(vec![reader.clone()]).await;
        let key = Thing::key(watcher::shard_of("a", 4), &"a".to_owned());
        let mut batch = Batch::new();
        running.watcher.save(&mut batch, None, &Thing::new("a", 1)).await.unwrap();
        batch.put(key.clone(), 1, "a what");
        assert!(running.store.commit(batch).await.unwrap().is_applied());
        running.pass(600 * SECOND).await;
        let explained = running.explain("a").await;
        let (waits, error) = if ask {
            let asking = explained.asking.unwrap();
            (asking.waits, asking.error.unwrap())
        } else {
            let standing = explained.stages["reader"].clone();
            (standing.waits, standing.failed.unwrap().error)
        };
        assert_eq!(waits, Waits::Parked);
        assert!(error.contains("is damaged: a part is missing"), "{error}");
        assert!(reader.visits().is_empty());
        let mut batch = Batch::new();
        batch.put(key, 1, "a 1 mended");
        assert!(running.store.commit(batch).await.unwrap().is_applied());
        running.save(&Thing::new("a", 2)).await;
        running.pass(SECOND).await;
        assert_eq!(reader.visits().len(), 1);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn everything_that_is_parked_can_be_released_at_once() {
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&mended);
    let strict = Doing::on("strict", "price", move |_| {
        if is_mended.load(Ordering::Relaxed) {
            Ok(Answer::untouched())
        } else {
            Err(StageError::Lasting("a bug".to_owned()))
        }
    });
    let running = Running::start(vec![strict.clone()]).await;
    save_many(&running, 300).await;
    running.pass(60 * SECOND).await;
    let report = running.watcher.report("strict").await.unwrap();
    assert_eq!((report.parked.rows, report.depth[&Lane::Fresh].rows), (300, 0));
    mended.store(true, Ordering::Relaxed);
    assert_eq!(running.watcher.release("strict").await.unwrap(), 300);
    running.pass(SECOND).await;
    assert_eq!(running.watcher.report("strict").await.unwrap().parked, Depth::default());
    assert_eq!(running.watcher.release("strict").await.unwrap(), 0);
    assert_eq!(strict.visits().len(), 600);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_comes_takes_its_part_of_a_rate() {
    let stage = Doing::on("slow", "price", |_| Ok(Answer::untouched()));
    let limits = StageLimits { rate: Some(20.0), ..StageLimits::default() };
    let config = Config { shards: 8, ..limited(limits) };
    let (store, clock) = (memory(), Clock::starting_at(START));
    let one =
        Running::start_on(store.clone(), clock.clone(), config.clone(), vec![stage.clone()], "one").await;
    let two = Running::start_on(store, clock, config, vec![stage.clone()], "two").await;
    one.pass(20 * SECOND).await;
    save_many(&one, 1000).await;
    one.pass(20 * SECOND).await;
    let visits = visits_between(&stage, 25, 35);
    assert!((180..=220).contains(&visits), "{visits}");
    let processes = one.watcher.report("slow").await.unwrap().processes;
    assert_eq!(processes.len(), 2);
    assert_eq!(one.watcher.cluster().await.unwrap().holders.len(), 8);
    for status in processes.values() {
        assert!(status.visits_per_s > 5.0 && status.visits_per_s < 15.0, "{processes:?}");
    }
    one.stop().await;
    two.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_are_under_way_than_may_be_and_that_is_explained() {
    let mut slow =
        Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    slow.takes = 5 * SECOND;
    let slow = Arc::new(slow);
    let limits = StageLimits { calls_max: 2, batch_max: 3, ..StageLimits::default() };
    let running = Running::start_with(limited(limits), vec![slow.clone()]).await;
    running.pass(SECOND).await;
    save_many(&running, 20).await;
    running.pass(Duration::from_millis(500)).await;
    assert!(slow.visits().len() <= 6, "{}", slow.visits().len());
    let waits = running.explain("e19").await.stages["slow"].waits.clone();
    assert_eq!(waits, Waits::Blocked(Lane::Fresh, Blocked::Calls));
    running.pass(60 * SECOND).await;
    assert_eq!(slow.visits().len(), 20);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_fails_with_a_long_story_costs_nobody_the_shards() {
    let story = Doing::on("story", "price", |_| Err(StageError::Passing("long ".repeat(500_000))));
    let alive = Doing::on("alive", "price", |_| Ok(Answer::untouched()));
    let running = Running::start(vec![story, alive.clone()]).await;
    save_many(&running, 50).await;
    running.pass(120 * SECOND).await;
    assert!(running.watcher.statuses()["story"].down.as_ref().unwrap().error.len() < 2000);
    running.save(&Thing::new("late", 1)).await;
    running.pass(SECOND).await;
    assert_eq!(alive.visits().len(), 51);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rate_of_all_stages_does_not_limit_the_questions() {
    let picky = Doing::with("picky", Interest::ask_about_all(), |_| Ok(Answer::untouched()));
    let picky = Arc::new(Doing { decide: Box::new(|_| Ok(Schedule::No)), ..picky });
    let free = Doing::with("free", Interest::ask_about_all(), |_| Ok(Answer::untouched()));
    let free = Arc::new(free);
    let slow = StageLimits { rate: Some(1.0), ..StageLimits::default() };
    let limits = BTreeMap::from([("free".to_owned(), StageLimits::default())]);
    let config = Config { limits, ..limited(slow) };
    let running = Running::start_with(config, vec![picky, free.clone()]).await;
    save_many(&running, 100).await;
    running.pass(5 * SECOND).await;
    assert_eq!(free.visits().len(), 100);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn while_nothing_can_be_saved_stages_are_not_called_without_end() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let schema = Schema::new(1, watcher::tables()).unwrap();
    let faulty = Faulty::new(Memory::new(schema), 1, Faults::default());
    let store = Store::over(Arc::new(faulty.clone()), &StoreOptions::default());
    let limits = StageLimits { rate: None, ..StageLimits::default() };
    let clock = Clock::starting_at(START);
    let running = Running::start_on(store, clock, limited(limits), vec![stage.clone()], "one").await;
    running.watcher.pause_stage("stage", "").await.unwrap();
    save_many(&running, 1000).await;
    running.watcher.resume_stage("stage").await.unwrap();
    faulty.set_faults(Faults { error_not_applied: 1000, ..Faults::default() });
    running.pass(9 * SECOND).await;
    let calls = stage.visits().len();
    assert!(calls < 20 * 4 * 64, "{calls} visits, and none could be saved");
    faulty.set_faults(Faults::default());
    running.pass(60 * SECOND).await;
    assert_eq!(running.watcher.statuses()["stage"].counts.visits, 1000);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_changes_an_entity_and_comes_back_at_once_is_slowed_down_too() {
    let eager = Doing::on("eager", "price", |s| {
        Ok(Answer::replace(Thing { price: s.entity.price + 1, ..s.entity.clone() }).visit_at(s.now))
    });
    let running = Running::start(vec![eager.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(3600 * SECOND).await;
    let visits = eager.visits().len();
    assert!((30..300).contains(&visits), "{visits} visits in an hour, without a limit it were 360,000");
    assert!(running.watcher.statuses()["eager"].counts.fights > 0);
    let slowed = running.explain("a").await.slowed.unwrap();
    assert_eq!((slowed.stages.len(), &*slowed.stages[0].stage), (1, "eager"), "{slowed}");
    assert!(slowed.until.is_some_and(|until| until > running.now()), "{slowed}");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_made_from_another_version_is_parked_with_the_reason() {
    let forgetful =
        Doing::on("forgetful", "price", |s| Ok(Answer::replace(titled(s, "old")).made_from(s.version - 1)));
    let running = Running::start(vec![forgetful]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(SECOND).await;
    let standing = running.explain("a").await.stages["forgetful"].clone();
    assert_eq!(standing.waits, Waits::Parked);
    let error = standing.failed.unwrap().error;
    assert_eq!(error, "it was shown version 1 and answered with one made from version 0");
    assert_eq!(running.thing("a").await.0.title, "a thing");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_without_a_proper_name_is_refused() {
    let watcher: Watcher<Thing> = Watcher::open(
        &memory(),
        Setup { clock: Clock::starting_at(START), config: config(), seed: 1, ..Setup::default() },
    )
    .await
    .unwrap();
    for name in [String::new(), "a\0b".to_owned(), "x".repeat(201)] {
        let stop = tokio::sync::watch::Sender::new(false);
        let error = watcher.run(name, stop.subscribe()).await.unwrap_err().to_string();
        assert!(error.contains("a name must have 1 to 200 bytes"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_cannot_be_read_holds_up_nobody_else_in_its_queue() {
    let stage = Doing::on("stage", "price", |_| Ok(Answer::untouched()));
    let running = Running::start_with(Config { shards: 1, ..config() }, vec![stage.clone()]).await;
    running.watcher.pause_stage("stage", "").await.unwrap();
    save_many(&running, 200).await;
    let entries = running.store.schema().table("watcher_entries").unwrap();
    let rows = running.store.scan(&entries.scan()).await.unwrap().rows;
    let good = rows[0].value.clone();
    let mut batch = Batch::new();
    batch.put(rows[0].key.clone(), rows[0].version, &b"\xff\xff nonsense"[..]);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    running.watcher.resume_stage("stage").await.unwrap();
    running.pass(10 * SECOND).await;
    assert_eq!(stage.visits().len(), 199);
    let mut batch = Batch::new();
    batch.put(rows[0].key.clone(), rows[0].version, good);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    running.pass(70 * SECOND).await;
    assert_eq!(stage.visits().len(), 200, "and it is visited when it was mended");
    running.stop().await;
}

/// A stage whose visits take two seconds.
struct Slow;

#[async_trait]
impl Stage<Thing> for Slow {
    fn id(&self) -> &'static str {
        "slow"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, _: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        tokio::time::sleep(2 * SECOND).await;
        Ok(Answer::untouched().with_state("seen"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_stage_visits_an_entity_when_quicker_ones_are_done_with_it() {
    let quick: Vec<Arc<Doing>> =
        ["a", "b", "z"].map(|id| Doing::on(id, "price", |_| Ok(Answer::untouched()))).into();
    let mut stages: Vec<Arc<dyn Stage<Thing>>> = quick.iter().map(|stage| Arc::clone(stage) as _).collect();
    stages.push(Arc::new(Slow));
    let running = Running::start_on(memory(), Clock::starting_at(START), config(), stages, "one").await;
    // It has to be seen once how long each takes.
    running.save(&Thing::new("first", 1)).await;
    running.pass(10 * SECOND).await;
    for round in 0..10 {
        let id = format!("e{round}");
        running.save(&Thing::new(&id, 1)).await;
        running.pass(SECOND / 2).await;
        let visits: Vec<usize> = quick.iter().map(|stage| stage.visits_of(&id).len()).collect();
        assert_eq!(visits, [1, 1, 1], "nobody waits for the slow one, round {round}");
        running.pass(5 * SECOND).await;
        assert_eq!(running.watcher.state(&id, "slow").await.unwrap().bytes, "seen");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_stage_can_be_looked_at_the_first_of_all_shards_first() {
    let later = Doing::on("later", "price", |_| Ok(Answer::untouched()));
    let running = Running::start(vec![later.clone()]).await;
    running.watcher.pause_stage("later", "to look at what waits").await.unwrap();
    running.pass(SECOND).await;
    for n in 0..12 {
        running.save(&Thing::new(&format!("e{n}"), 1)).await;
        running.pass(SECOND).await;
    }
    let ahead = async |limit| running.watcher.upcoming("later", Lane::Fresh, limit).await.unwrap();
    let first = ahead(5).await;
    assert_eq!(first.iter().map(|visit| &*visit.entity).collect::<Vec<_>>(), ["e0", "e1", "e2", "e3", "e4"]);
    assert!(first.is_sorted_by_key(|visit| visit.visit) && first[0].visit >= START, "{first:?}");
    assert_eq!((ahead(100).await.len(), ahead(0).await.len()), (12, 0));
    assert_eq!(running.watcher.upcoming("later", Lane::Timer, 5).await.unwrap(), []);
    assert!(running.watcher.upcoming("nobody", Lane::Fresh, 5).await.is_err());
    running.stop().await;
}
