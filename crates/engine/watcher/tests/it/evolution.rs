//! Entities evolve: stages visit them, change them, keep state, ask for later visits, and fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use store::Batch;
use watcher::{
    Answer, Budget, Clock, Config, Entity, Fields, Interest, Schedule, Stage, StageError, StageLimits,
    Subject, Time,
};

use crate::common::{Doing, Running, SECOND, START, Thing, config, memory, titled, visit_on};

#[tokio::test(start_paused = true)]
async fn one_stage_answers_to_the_change_of_another() {
    let cheap = Doing::on("cheap", "price", |s| {
        let title = if s.entity.price < 10 { "cheap" } else { "dear" };
        Ok(Answer::replace(titled(s, title)))
    });
    let loud = Doing::on("loud", "title", |s| Ok(Answer::replace(titled(s, &s.entity.title.to_uppercase()))));
    let running = Running::start(vec![cheap, loud]).await;
    running.save(&Thing::new("a", 5)).await;
    running.pass(SECOND).await;
    assert_eq!(running.thing("a").await.0.title, "CHEAP");
    running.save(&Thing { price: 50, ..running.thing("a").await.0 }).await;
    running.pass(SECOND).await;
    assert_eq!(running.thing("a").await.0.title, "DEAR");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_asked_is_visited_when_it_says_so_or_cannot_say() {
    let mut picky = Doing::with("picky", Interest::ask_about_all(), |_| Ok(Answer::untouched()));
    picky.decide = Box::new(|s| match s.entity.price {
        0 => Ok(Schedule::No),
        1 => Ok(Schedule::Now),
        2 => Ok(Schedule::At(s.now + 60 * SECOND)),
        _ => Err(StageError::Passing("who knows".to_owned())),
    });
    let picky = Arc::new(picky);
    let running = Running::start(vec![picky.clone()]).await;
    let times = async |price| {
        let (before, now) = (picky.visits().len(), running.now());
        running.save(&Thing::new("a", price)).await;
        running.pass(100 * SECOND).await;
        picky.visits()[before..].iter().map(|(_, time)| time.since(now).as_secs()).collect::<Vec<_>>()
    };
    assert_eq!(times(0).await, Vec::<u64>::new());
    assert_eq!(times(1).await, [0]);
    assert_eq!(times(2).await, [60]);
    assert_eq!(times(3).await, [0]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_timer_fires_in_time_and_never_earlier_also_over_a_restart() {
    let hourly = || Doing::on("hourly", "price", |s| Ok(Answer::untouched().visit_at(s.now + 3600 * SECOND)));
    let (one, clock) = (hourly(), Clock::starting_at(START));
    let running = Running::start_on(memory(), clock.clone(), config(), vec![one.clone()], "one").await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(2 * 3600 * SECOND + 1800 * SECOND).await;
    let visits: Vec<u64> = one.visits().iter().map(|(_, time)| time.since(START).as_secs()).collect();
    assert_eq!(visits, [0, 3600, 7200]);
    let store = running.stop().await;
    let two = hourly();
    let running = Running::start_on(store, clock, config(), vec![two.clone()], "two").await;
    running.pass(3600 * SECOND).await;
    let visits: Vec<u64> = two.visits().iter().map(|(_, time)| time.since(START).as_secs()).collect();
    assert_eq!(visits, [10_800]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_knows_when_it_wants_to_come_is_not_visited_before_and_what_is_earlier_stays() {
    let mut waiting = Doing::with("waiting", visit_on("price"), |_| Ok(Answer::untouched()));
    waiting.after_change = |thing, now| match thing.price {
        0 => Schedule::No,
        99 => panic!("over this one"),
        price => Schedule::At(now + SECOND * u32::try_from(price).unwrap()),
    };
    let waiting = Arc::new(waiting);
    let running = Running::start(vec![waiting.clone()]).await;
    let seconds =
        || -> Vec<u64> { waiting.visits().iter().map(|(_, time)| time.since(START).as_secs()).collect() };
    running.save(&Thing::new("a", 0)).await;
    running.save(&Thing::new("b", 100)).await;
    running.pass(50 * SECOND).await;
    // The later wish does not put off the earlier one, nor does one for nothing.
    running.save(&Thing::new("b", 500)).await;
    running.save(&Thing::new("b", 0)).await;
    running.pass(100 * SECOND).await;
    assert_eq!(seconds(), [100]);
    running.save(&Thing::new("b", 30)).await;
    running.pass(100 * SECOND).await;
    assert_eq!(seconds(), [100, 180]);
    // Who panics over an entity is to see for itself.
    running.save(&Thing::new("a", 99)).await;
    running.pass(SECOND).await;
    assert_eq!(seconds(), [100, 180, 250]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_private_state_is_saved_with_the_entity_and_shown_at_the_next_visit() {
    let counting = Doing::on("counting", "price", |s| {
        let count: u32 = std::str::from_utf8(&s.state).unwrap().parse().unwrap_or(0);
        let title = format!("seen {count} times before");
        Ok(Answer::replace(titled(s, &title)).with_state((count + 1).to_string()))
    });
    let running = Running::start(vec![counting]).await;
    for price in 0..3 {
        running.save(&Thing::new("a", price)).await;
        running.pass(SECOND).await;
    }
    assert_eq!(running.thing("a").await.0.title, "seen 2 times before");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_stage_is_tried_again_with_growing_pauses_then_parked_until_the_entity_changes() {
    let broken = Doing::on("broken", "price", |s| match s.entity.price {
        1 => Err(StageError::Passing("not now".to_owned())),
        2 => Err(StageError::Lasting("never".to_owned())),
        3 => panic!("a stage may panic"),
        _ => Ok(Answer::replace(titled(s, "mended"))),
    });
    let stages = StageLimits { attempts_max: 5, ..StageLimits::default() };
    let running = Running::start_with(Config { stages, ..config() }, vec![broken.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(1000 * SECOND).await;
    let times: Vec<Time> = broken.visits().iter().map(|(_, time)| *time).collect();
    let pauses: Vec<u64> = times.windows(2).map(|w| w[1].since(w[0]).as_millis() as u64).collect();
    assert_eq!(times.len(), 5, "five attempts, then it is parked");
    for (pause, most) in pauses.into_iter().zip([1000, 2000, 4000, 8000]) {
        assert!((most / 2..=most + 1000).contains(&pause), "{pause} ms, at most {most}");
    }
    running.save(&Thing::new("a", 2)).await;
    running.pass(1000 * SECOND).await;
    assert_eq!(broken.visits().len(), 6, "a lasting error is not tried again");
    running.save(&Thing::new("a", 3)).await;
    running.pass(1000 * SECOND).await;
    assert_eq!(broken.visits().len(), 11, "a panic is a failure that may pass");
    running.save(&Thing::new("a", 4)).await;
    running.pass(SECOND).await;
    assert_eq!(running.thing("a").await.0.title, "mended");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_hangs_is_left_and_tried_again() {
    let mut slow =
        Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    slow.takes = 3600 * SECOND;
    let slow = Arc::new(slow);
    let running = Running::start(vec![slow.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(30 * SECOND).await;
    assert!(slow.visits().len() >= 2, "{:?}", slow.visits());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_an_old_version_is_not_saved_and_the_stage_sees_the_new_one() {
    let mut slow = Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |s| {
        Ok(Answer::replace(titled(s, &format!("price {}", s.entity.price))))
    });
    slow.takes = 5 * SECOND;
    let slow = Arc::new(slow);
    let running = Running::start(vec![slow.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(2 * SECOND).await;
    running.save(&Thing::new("a", 2)).await;
    running.pass(20 * SECOND).await;
    let versions: Vec<u64> = slow.visits().iter().map(|(version, _)| *version).collect();
    assert_eq!(versions, [1, 2]);
    assert_eq!(running.thing("a").await, (Thing { title: "price 2".to_owned(), ..Thing::new("a", 2) }, 3));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_patch_survives_a_change_elsewhere_without_another_visit() {
    let price = Fields::of(["price"]);
    let mut slow = Doing::with("slow", Interest::visit_on(price.clone()), move |s| {
        Ok(Answer::patch(price.clone(), Thing { price: 100, ..s.entity.clone() }))
    });
    slow.takes = 5 * SECOND;
    let slow = Arc::new(slow);
    let running = Running::start(vec![slow.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(2 * SECOND).await;
    running.save(&Thing { title: "another".to_owned(), ..Thing::new("a", 1) }).await;
    running.pass(20 * SECOND).await;
    assert_eq!(running.thing("a").await.0, Thing { title: "another".to_owned(), ..Thing::new("a", 100) });
    assert_eq!(slow.visits().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stages_that_fight_over_an_entity_are_slowed_down() {
    let cheaper = Doing::with("cheaper", Interest::ask_about(Fields::of(["price"])), |s| {
        Ok(Answer::replace(Thing { price: s.entity.price - 1, ..s.entity.clone() }))
    });
    let dearer = Doing::with("dearer", Interest::ask_about(Fields::of(["price"])), |s| {
        Ok(Answer::replace(Thing { price: s.entity.price + 1, ..s.entity.clone() }))
    });
    let budget = Budget { changes: 10, ..config().budget };
    let config = Config { budget, ..config() };
    let (cheaper, dearer) = (Arc::new(cheaper), Arc::new(dearer));
    let running = Running::start_with(config, vec![cheaper.clone(), dearer.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(3600 * SECOND).await;
    let visits = cheaper.visits().len() + dearer.visits().len();
    assert!((11..60).contains(&visits), "{visits} visits in an hour");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn wrong_answers_are_parked_with_the_reason_and_nothing_is_lost() {
    let wrong = Doing::on("wrong", "price", |s| {
        Ok(match s.entity.price {
            1 => Answer::replace(Thing::new("another", 1)),
            2 => Answer::untouched().with_state(vec![0; 300_000]),
            3 => Answer::untouched().visit_at(Time::from_ms(s.now.as_ms() - 3_600_000)),
            4 => Answer::untouched().visit_at(s.now + Duration::from_secs(101 * 366 * 24 * 3600)),
            5 => Answer::replace(titled(s, &"x".repeat(600_000))),
            _ => Answer::replace(titled(s, "right")),
        })
    });
    let running = Running::start(vec![wrong.clone()]).await;
    for price in 1..=5 {
        running.save(&Thing::new("a", price)).await;
        running.pass(100 * SECOND).await;
        assert_eq!(wrong.visits().len(), price as usize);
        assert_eq!(running.thing("a").await.0, Thing::new("a", price));
    }
    running.save(&Thing::new("a", 6)).await;
    running.pass(SECOND).await;
    assert_eq!(running.thing("a").await.0.title, "right");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_stage_holds_up_neither_other_entities_nor_other_stages() {
    let mut slow =
        Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    slow.takes = 5 * SECOND;
    let quick = Doing::on("quick", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    let slow = Arc::new(slow);
    let stages = StageLimits { batch_max: 1, calls_max: 4, ..StageLimits::default() };
    let running = Running::start_with(Config { stages, ..config() }, vec![quick.clone(), slow.clone()]).await;
    for n in 0..8 {
        running.save(&Thing::new(&format!("t{n}"), 1)).await;
    }
    running.pass(SECOND).await;
    assert_eq!(slow.visits().len(), 4, "four calls at a time");
    assert!(quick.visits().len() >= 4, "the quick stage has seen those that are not with the slow one");
    running.pass(20 * SECOND).await;
    assert!(slow.visits().len() >= 8 && quick.visits().len() >= 8);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_entity_is_worked_on_by_one_stage_at_a_time() {
    let at_work = Arc::new(Mutex::new((0, 0)));
    let stage = |id| -> Arc<dyn Stage<Thing>> { Arc::new(Counting { id, at_work: Arc::clone(&at_work) }) };
    let running = Running::start(vec![stage("a"), stage("b"), stage("c")]).await;
    for price in 0..20 {
        running.save(&Thing::new("x", price)).await;
        running.pass(Duration::from_millis(700)).await;
    }
    running.pass(60 * SECOND).await;
    let (visits, most) = {
        let at_work = at_work.lock().unwrap();
        (at_work.0 / 1000, at_work.1)
    };
    assert!(visits >= 3, "{visits} visits");
    assert_eq!(most, 1, "stages at once");
    running.stop().await;
}

/// Counts visits (in thousands) and stages that are at work, and the most at once.
struct Counting {
    id: &'static str,
    at_work: Arc<Mutex<(u32, u32)>>,
}

#[async_trait]
impl Stage<Thing> for Counting {
    fn id(&self) -> &str {
        self.id
    }

    async fn process(&self, _: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        {
            let mut at_work = self.at_work.lock().unwrap();
            at_work.0 += 1001;
            at_work.1 = at_work.1.max(at_work.0 % 1000);
        }
        tokio::time::sleep(SECOND).await;
        self.at_work.lock().unwrap().0 -= 1;
        Ok(Answer::untouched())
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_deeper_than_what_is_looked_at_waits_for_a_slow_stage_without_spinning() {
    let mut slow =
        Doing::with("slow", Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    slow.takes = 5 * SECOND;
    let slow = Arc::new(slow);
    let stages = StageLimits { batch_max: 50, calls_max: 1, ..StageLimits::default() };
    let config = Config { stages, shards: 1, ..config() };
    let running = Running::start_with(config, vec![slow.clone()]).await;
    for n in 0..200 {
        running.save(&Thing::new(&format!("t{n}"), 1)).await;
    }
    // With a paused clock, a loop that spins would never let this moment come.
    running.pass(60 * SECOND).await;
    assert_eq!(slow.visits().len(), 200);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_cannot_be_read_holds_up_nobody() {
    let stage = Doing::on("stage", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    let running = Running::start_with(Config { shards: 1, ..config() }, vec![stage.clone()]).await;
    let mut batch = Batch::new();
    running.watcher.save(&mut batch, None, &Thing::new("bad", 1)).await.unwrap();
    batch.put(Thing::key(0, &"bad".to_owned()), 1, "nonsense");
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    running.pass(10 * SECOND).await;
    running.save(&Thing::new("good", 1)).await;
    running.pass(10 * SECOND).await;
    assert_eq!(running.thing("good").await.0.title, "seen");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_over_one_entity_is_no_failure_of_the_others_in_the_same_call() {
    let touchy = Doing::on("touchy", "price", |s| {
        assert!(s.entity.price != 13, "unlucky");
        Ok(Answer::replace(titled(s, "seen")))
    });
    let running = Running::start_with(Config { shards: 1, ..config() }, vec![touchy.clone()]).await;
    for price in 10..16 {
        running.save(&Thing::new(&format!("t{price}"), price)).await;
    }
    running.pass(Duration::from_millis(100)).await;
    for price in 10..16 {
        let title = running.thing(&format!("t{price}")).await.0.title;
        assert_eq!(title, if price == 13 { "a thing" } else { "seen" });
    }
    running.stop().await;
}
