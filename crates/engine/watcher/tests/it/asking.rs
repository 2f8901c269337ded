//! Questions: what is asked of stages, and that nobody waits for somebody else's answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use watcher::{Answer, Clock, Config, Interest, Schedule, Stage, StageError, StageLimits, Subject};

use crate::common::{Running, SECOND, START, Thing, config, memory};

/// A stage that takes its time to say that it wants every entity.
struct Asked {
    id: &'static str,
    thinks: Duration,
    questions: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    visited: Mutex<Vec<(String, u64)>>,
}

impl Asked {
    fn new(id: &'static str, thinks: Duration) -> Arc<Self> {
        Arc::new(Self {
            id,
            thinks,
            questions: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            visited: Mutex::default(),
        })
    }

    fn questions(&self) -> usize {
        self.questions.load(Ordering::Relaxed)
    }

    fn visits(&self) -> usize {
        self.visited.lock().unwrap().len()
    }
}

#[async_trait]
impl Stage<Thing> for Asked {
    fn id(&self) -> &str {
        self.id
    }

    fn interest(&self) -> Interest {
        Interest::ask_about_all()
    }

    async fn should_process(&self, _: &Subject<Thing>) -> Result<Schedule, StageError> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::Relaxed);
        tokio::time::sleep(self.thinks).await;
        self.at_once.fetch_sub(1, Ordering::Relaxed);
        Ok(Schedule::Now)
    }

    async fn process(&self, subject: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        self.visited.lock().unwrap().push((subject.entity.id.clone(), subject.version));
        Ok(Answer::untouched())
    }
}

async fn start(config: Config, stages: &[Arc<Asked>]) -> Running {
    let stages = stages.iter().map(|stage| Arc::clone(stage) as Arc<dyn Stage<Thing>>).collect();
    Running::start_on(memory(), Clock::starting_at(START), config, stages, "one").await
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_stage_that_is_slow_to_answer() {
    let (quick, slow) = (Asked::new("quick", Duration::ZERO), Asked::new("slow", 5 * SECOND));
    let running = start(config(), &[Arc::clone(&quick), Arc::clone(&slow)]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(SECOND / 5).await;
    assert_eq!((quick.visits(), slow.visits()), (1, 0), "the slow one is still thinking");
    running.pass(SECOND).await;
    assert_eq!((quick.visits(), slow.visits()), (1, 1), "its answer was not waited for");
    running.save(&Thing::new("b", 1)).await;
    running.pass(SECOND / 5).await;
    assert_eq!((quick.visits(), slow.visits()), (2, 2));
    assert_eq!(
        (quick.questions(), slow.questions()),
        (2, 1),
        "one that is known to be slow is not asked for a while"
    );
    running.pass(60 * SECOND).await;
    running.save(&Thing::new("c", 1)).await;
    running.pass(SECOND).await;
    assert_eq!((slow.visits(), slow.questions()), (3, 2), "then it is tried again");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_is_slow_to_answer_gets_to_see_an_entity_that_changes_all_the_time() {
    let slow = Asked::new("slow", 5 * SECOND);
    let running = start(config(), &[Arc::clone(&slow)]).await;
    for price in 0..30 {
        running.save(&Thing::new("a", price)).await;
        running.pass(SECOND).await;
    }
    assert!(slow.visits() > 1, "{}", slow.visits());
    running.pass(20 * SECOND).await;
    let seen = slow.visited.lock().unwrap().last().cloned();
    assert_eq!(seen, Some(("a".to_owned(), 30)), "the last version was seen in the end");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_more_questions_are_asked_at_a_time_than_the_stage_may_have_calls() {
    let stage = Asked::new("stage", SECOND / 10);
    let stages = StageLimits { calls_max: 2, batch_max: 1, ..StageLimits::default() };
    let running = start(Config { stages, ..config() }, &[Arc::clone(&stage)]).await;
    for n in 0..8 {
        running.save(&Thing::new(&format!("e{n}"), 1)).await;
    }
    running.pass(60 * SECOND).await;
    assert_eq!((stage.questions(), stage.visits()), (8, 8));
    assert!(stage.most_at_once.load(Ordering::Relaxed) <= 2);
    running.stop().await;
}
