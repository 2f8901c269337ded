//! Measures the highest rate of changes while tasks fire.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clock::Clock;

use super::base::{Base, change};
use super::executor::AtOnce;
use super::graph::{TASKS_A_PARAMETER, parameter_name, reads, task_file, task_name};
use super::options::TasksBench;
use super::report::Report;
use crate::figure::Figure;

/// The values that a task has seen last.
type Seen = BTreeMap<String, i64>;

pub(super) async fn measure(args: &TasksBench, report: &mut Report) -> anyhow::Result<()> {
    let (executor, mut started) = AtOnce::new(Clock::system());
    let base = Base::start(args.home("sustain")?, executor, task_file(args.tasks, "[\"true\"]")).await?;
    let parameters = args.tasks / TASKS_A_PARAMETER;
    base.make_values(parameters).await?;
    base.settle().await?;
    base.home.settle(&base.store).await?;
    let numbers: Arc<[AtomicI64]> = (0..parameters).map(|_| AtomicI64::new(1)).collect();
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let until = began + Duration::from_secs(args.seconds);
    let callers = (0..args.callers).map(|caller| {
        let (ctl, numbers, next, all) =
            (base.ctl.clone(), Arc::clone(&numbers), Arc::clone(&next), args.callers);
        tokio::spawn(async move {
            // Every caller has its own values, as loaders have: no value has two writers.
            let own: Vec<u64> = (0..numbers.len() as u64).filter(|number| number % all == caller).collect();
            for number in own.iter().cycle() {
                if Instant::now() >= until {
                    break;
                }
                let to = numbers[*number as usize].fetch_add(1, Ordering::Relaxed) + 1;
                ctl.set(vec![change(*number, to)], "bench", "").await?;
                next.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    let (changes, elapsed) = (next.load(Ordering::Relaxed), began.elapsed());
    base.settle().await?;
    let settled = began.elapsed().saturating_sub(elapsed);
    let mut firings = 0_u64;
    let mut last: BTreeMap<String, Seen> = BTreeMap::new();
    while let Ok(run) = started.try_recv() {
        firings += 1;
        let seen: Seen =
            run.values.iter().filter_map(|(name, value)| Some((name.clone(), number(value)?))).collect();
        if let Some(before) = last.get(&run.task) {
            let grew = seen.iter().any(|(name, value)| before.get(name).is_none_or(|before| value > before));
            anyhow::ensure!(grew, "{} fired twice for the same values: {seen:?}", run.task);
        }
        last.insert(run.task, seen);
    }
    for task in 0..args.tasks {
        let current = reads(task, parameters)
            .into_iter()
            .map(|of| (parameter_name(of), numbers[of as usize].load(Ordering::Relaxed)))
            .collect();
        let seen = last.get(&task_name(task));
        anyhow::ensure!(
            seen == Some(&current),
            "{} has missed a change: {seen:?}, {current:?}",
            task_name(task)
        );
    }
    base.stop().await?;
    report.changes_per_s = Figure::of(changes as f64 / elapsed.as_secs_f64());
    report.firings_per_s = Figure::of(firings as f64 / elapsed.as_secs_f64());
    report.settled_ms = Figure::of(settled.as_secs_f64() * 1000.0);
    args.run.say(&format!(
        "  {} callers     {:.0} changes/s, {:.0} firings/s; {:.0} ms after the last change everything was decided; none lost, none double",
        args.callers,
        report.changes_per_s.or_zero(),
        report.firings_per_s.or_zero(),
        report.settled_ms.or_zero()
    ));
    Ok(())
}

fn number(value: &triggers::Value) -> Option<i64> {
    match value {
        triggers::Value::Number(number) => Some(*number),
        triggers::Value::Time(_) => None,
    }
}
