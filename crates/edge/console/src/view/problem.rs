//! Problems of the system.

use access::Action;
use maud::{Markup, html};
use wire::torg::admin::v1::{Problem, problem::Severity};

use super::{ago, path};
use crate::language::Language;
use crate::language::w;
use crate::visit::Visit;

/// A problem with its remedy and a link to the page where it is solved.
pub(crate) fn problem(visit: &Visit, wrong: &Problem) -> Markup {
    let class = match wrong.severity.as_known() {
        Some(Severity::SEVERITY_ERROR) => "bad",
        Some(Severity::SEVERITY_WARNING) => "warn",
        _ => "plain",
    };
    let place = place_of(wrong, visit.may(Action::UseTopics));
    let (head, more) = head(visit, wrong);
    html! {
        li class=(class) {
            strong { @if let Some(place) = &place { a href=(place) { (head) } } @else { (head) } }
            @if let Some(since) = wrong.since.as_option() { " " span.quiet { (ago(visit, Some(since))) } }
            @if let Some(more) = more { p lang="en" { (more) } }
            (remedy(visit, wrong))
        }
    }
}

/// The translated text, and the original if it says more.
fn head<'a>(visit: &Visit, wrong: &'a Problem) -> (String, Option<&'a str>) {
    let known = match &*wrong.code {
        "store_away" => w("The store does not answer"),
        "store_full" => w("The disk of the store is full: nothing can be saved"),
        "store_read_only" => w("The store is read-only: nothing can be saved"),
        "store_failed" => w("The store has stopped after a failed write"),
        "store_damaged" => w("Something in the store is damaged"),
        "topics_away" => w("The topics do not answer"),
        "consumer_stuck" => w("{0} reads no messages"),
        "not_ready" => w("This process is not ready: {0}"),
        "process_gone" => w("A process is gone: {0}"),
        "shard_unserved" => w("Some shards are not served"),
        "stage_down" => w("Stage {0} does not answer"),
        "stage_paused" => w("Stage {0} is paused"),
        "stage_parked" => w("Stage {0} has parked some offers"),
        "queue_late" => w("Stage {0} is late"),
        "export_late" => w("Changes reach the topic late"),
        "feed_unreachable" => w("Feed {0} cannot be fetched"),
        "feeds_unserved" => w("No process serves feeds"),
        "load_stuck" => w("A load of feed {0} is stuck"),
        "photos_missing" => w("Files of photos are missing"),
        "load_waits" => w("A load of feed {0} waits to be confirmed"),
        "task_failing" => w("Task {0} fails"),
        "task_silent" => w("Task {0} has been silent for too long"),
        "task_regressed" => w("Parameters of task {0} were moved back"),
        "tasks_undecided" => w("No process plans tasks"),
        "looks_fail" => w("A check fails: {0}"),
        "figures_full" => w("There are more figures than can be kept"),
        "time_moves" => w("The demo generates its past"),
        _ => return (wrong.text.clone(), None),
    };
    // A summary of several problems has no name.
    if visit.language() == Language::English || known.contains("{0}") && wrong.about.is_empty() {
        return (wrong.text.clone(), None);
    }
    let more = (!SAID_WHOLLY.contains(&&*wrong.code)).then_some(&*wrong.text);
    (visit.f(known, &[&wrong.about]), more)
}

/// Problems whose original text says no more than the translation.
const SAID_WHOLLY: [&str; 3] = ["figures_full", "tasks_undecided", "time_moves"];

/// The translated remedy, followed by the original if it contains a command.
fn remedy(visit: &Visit, wrong: &Problem) -> Markup {
    let known = match &*wrong.code {
        "store_away" => w("Check that the database runs and is reachable. Torg continues by itself."),
        "store_full" => w("Free some disk space. Torg continues by itself."),
        "store_read_only" => w("Find out why the database refuses writes. Torg continues by itself."),
        "store_failed" => w("Check the disk, then restart the process."),
        "store_damaged" => w("Stop the processes, check the store, and restore it from a backup."),
        "consumer_stuck" => w("Start a process with the role stages, or see its log."),
        "topics_away" => w("Check that Kafka runs and is reachable. Changes wait and are not lost."),
        "not_ready" => w("See the log of the process."),
        "process_gone" => w("See its log and restart it."),
        "shard_unserved" => w("Start a process with the role stages."),
        "stage_down" => w("Check that it runs. Its offers wait and are not lost."),
        "stage_paused" => w("Resume it when possible."),
        "stage_parked" => w("Find the cause, fix it, and release them."),
        "queue_late" => w("See what blocks it; raise its limits."),
        "export_late" => w("Check that the topics accept messages."),
        "feed_unreachable" => {
            w("It is retried by itself. If it keeps failing, ask the seller for a working link.")
        }
        "feeds_unserved" => w("Start a process with the roles loader and processor."),
        "load_stuck" => w("See the logs of the processes with the roles processor and stages."),
        "photos_missing" => w("Check the path of the files, or restore them from a backup."),
        "load_waits" => w("Look at the load; confirm it, or upload a better file."),
        "task_failing" => w("See the log of its run. It is retried by itself."),
        "task_silent" => w("See what it waits for."),
        "task_regressed" => w("See which of its values were moved back, and choose what to do."),
        "tasks_undecided" => w("Start a process with the role tasks."),
        "looks_fail" => w("Problems there are not reported until it works. See the log of the process."),
        "figures_full" => w("Unused figures expire after six hours."),
        "time_moves" => w("Wait a minute or two."),
        _ => "",
    };
    let own = visit.language() != Language::English && !known.is_empty();
    html! {
        @if own { p.quiet { (visit.t(known)) } }
        @if !wrong.remedy.is_empty() && (!own || wrong.remedy.contains('`')) {
            p.quiet lang=[own.then_some("en")] { (commands(&wrong.remedy)) }
        }
    }
}

/// Formats text between backticks as code.
fn commands(text: &str) -> Markup {
    html! {
        @for (place, piece) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// The page about a problem, if the visitor may see it.
fn place_of(wrong: &Problem, topics: bool) -> Option<String> {
    let about = &*wrong.about;
    let kind = wrong.code.split('_').next().unwrap_or_default();
    Some(match kind {
        "stage" | "queue" if !about.is_empty() => path(&["stages", about]),
        "feed" | "load" => {
            // Seller names may contain `/`, feed names may not.
            let (seller, namespace) = about.rsplit_once('/')?;
            path(&["feeds", seller, namespace])
        }
        "task" if !about.is_empty() => path(&["tasks", about]),
        "tasks" | "task" => path(&["tasks"]),
        "looks" => path(&[match about {
            "queues" => "stages",
            "feeds" | "tasks" => about,
            _ => "cluster",
        }]),
        "export" | "shard" | "process" => path(&["cluster"]),
        "consumer" | "topic" | "topics" if topics => path(&["topics"]),
        "feeds" => path(&["feeds"]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_leads_to_where_it_can_be_mended() {
        let place = |code: &str, about: &str| {
            place_of(&Problem { code: code.into(), about: about.into(), ..Problem::default() }, true)
        };
        assert_eq!(place("stage_down", "prices"), Some("/console/stages/prices".into()));
        assert_eq!(place("feed_unreachable", "anna/default"), Some("/console/feeds/anna/default".into()));
        assert_eq!(place("task_failing", "report"), Some("/console/tasks/report".into()));
        assert_eq!(place("feeds_unserved", ""), Some("/console/feeds".into()));
        assert_eq!(place("consumer_stuck", "prices"), Some("/console/topics".into()));
        assert_eq!(place("export_late", ""), Some("/console/cluster".into()));
        assert_eq!(place("tasks_undecided", ""), Some("/console/tasks".into()));
        assert_eq!(place("topics_away", ""), Some("/console/topics".into()));
        assert_eq!(place("looks_fail", "queues"), Some("/console/stages".into()));
        assert_eq!(place("looks_fail", "tasks"), Some("/console/tasks".into()));
        assert_eq!(place("looks_fail", "export"), Some("/console/cluster".into()));
        assert_eq!(place("store_away", ""), None);
        let away = Problem { code: "topics_away".into(), ..Problem::default() };
        assert_eq!(place_of(&away, false), None);
    }
}
