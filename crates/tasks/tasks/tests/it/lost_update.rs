//! The sequences of events on which Dagster's `eager` loses an update (`bench/peers/dagster`): a
//! change that comes between two of its evaluations, after the task was requested or has run,
//! counts as handled. Here each of them ends with a second run, once, after the first, that has
//! seen everything.
//!
//! They are played on a process that is always there, and on one that is there only while it is
//! asked to evaluate and is killed in between, so that whatever happens then happens between two
//! evaluations.

use std::time::Duration;

use crate::common::{Process, World};

const TASK: &str = "
tasks:
  task:
    when: {any: [{grew: {of: a.rows, by: 1}}, {grew: {of: b.rows, by: 1}}]}
    run: ./task.sh
";
/// So many evaluations follow, each with its run: a change that is seen late is not lost.
const EVALUATIONS_AFTER: usize = 5;

enum Step {
    A,
    B,
    Evaluate,
    /// What was requested begins, these happen meanwhile, and it ends.
    Run(&'static [Step]),
}

use Step::{A, B, Evaluate, Run};

const SEQUENCES: [(&str, &[Step]); 4] = [
    ("b changes after the run, before the next evaluation", &[A, Evaluate, Run(&[]), B]),
    ("b changes after the run and an evaluation", &[A, Evaluate, Run(&[]), Evaluate, B]),
    ("b changes during the run, before the next evaluation", &[A, Evaluate, Run(&[B, Evaluate])]),
    ("b changes during the run, after an evaluation", &[A, Evaluate, Run(&[Evaluate, B, Evaluate])]),
];

struct Play {
    world: World,
    /// The process that is always there.
    process: Option<Process>,
    a: i64,
    b: i64,
}

impl Play {
    /// One task over two parameters, all of which have been there before.
    async fn begin(always: bool) -> Self {
        let world = World::new();
        let office = world.open("office").await;
        world.apply(&office, TASK).await;
        let mut play = Self { world, process: None, a: 0, b: 0 };
        if always {
            play.process = Some(play.world.start("here").await);
        }
        for step in [A, B, Evaluate, Run(&[]), Evaluate, Run(&[]), Evaluate] {
            Box::pin(play.step(&step)).await;
        }
        assert!(play.world.runs.under_way("task").is_empty());
        play
    }

    async fn step(&mut self, step: &Step) {
        match step {
            A => {
                self.a += 1;
                self.world.set("a.rows", self.a).await;
            }
            B => {
                self.b += 1;
                self.world.set("b.rows", self.b).await;
            }
            Evaluate if self.process.is_some() => tokio::time::sleep(Duration::from_secs(10)).await,
            Evaluate => {
                let process = self.world.start("here").await;
                tokio::time::sleep(Duration::from_secs(10)).await;
                process.kill().await;
            }
            Run(meanwhile) => {
                let Some(id) = self.world.runs.under_way("task").pop() else { return };
                for step in *meanwhile {
                    Box::pin(self.step(step)).await;
                    assert!(self.world.runs.under_way("task").iter().eq([&id]), "one at a time");
                }
                self.world.runs.succeed(&id);
            }
        }
    }

    /// How many runs there were, and what the last one saw.
    fn runs(&self) -> (usize, runs::Values) {
        let mut runs: Vec<_> = self.world.runs.all().into_iter().collect();
        runs.sort_by_key(|(id, _)| id.rsplit('.').next().unwrap().parse::<u64>().unwrap());
        (runs.len(), runs.pop().unwrap().1.spec.values)
    }
}

async fn play_all(always: bool) {
    for (name, steps) in SEQUENCES {
        let mut play = Play::begin(always).await;
        let (before, _) = play.runs();
        for step in steps {
            play.step(step).await;
        }
        for _ in 0..EVALUATIONS_AFTER {
            play.step(&Evaluate).await;
            play.step(&Run(&[])).await;
        }
        play.step(&Evaluate).await;
        let (after, saw) = play.runs();
        assert_eq!(after - before, 2, "{name}: one run for a, and one for b");
        let number = |number| triggers::Value::Number(number);
        let all = [("a.rows".to_owned(), number(play.a)), ("b.rows".to_owned(), number(play.b))];
        assert_eq!(saw, all.into(), "{name}: the last run has seen everything");
        assert!(play.world.runs.under_way("task").is_empty(), "{name}");
        if let Some(process) = play.process.take() {
            process.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_updates_that_dagster_loses_are_followed_by_one_run_after_the_one_under_way() {
    play_all(true).await;
}

#[tokio::test(start_paused = true)]
async fn they_are_not_lost_either_by_a_process_that_is_killed_between_its_evaluations() {
    play_all(false).await;
}
