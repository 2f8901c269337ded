//! Something that is wrong, as pages tell it.

use access::Action;
use maud::{Markup, html};
use wire::torg::admin::v1::{Problem, problem::Severity};

use super::{ago, path};
use crate::language::Language;
use crate::visit::Visit;
use crate::words_mark::w;

/// What is wrong, with what to do about it and the page where that is done.
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

/// What is wrong in the language of the person, and then the very words of Torg if they are others.
fn head<'a>(visit: &Visit, wrong: &'a Problem) -> (String, Option<&'a str>) {
    let known = match &*wrong.code {
        "store_away" => w("The store does not answer"),
        "store_full" => w("The disk of the store is full: nothing can be saved"),
        "store_read_only" => w("The store takes no writes: nothing can be saved"),
        "store_failed" => w("The store has stopped after a failed write"),
        "store_damaged" => w("Something in the store is damaged"),
        "topics_away" => w("The topics do not answer"),
        "consumer_stuck" => w("{0} reads no messages"),
        "not_ready" => w("This process is not ready: {0}"),
        "process_gone" => w("A process is gone: {0}"),
        "shard_unserved" => w("Some shards are served by nobody"),
        "stage_down" => w("Stage {0} does not answer"),
        "stage_paused" => w("Stage {0} is paused"),
        "stage_parked" => w("Stage {0} has given up on some offers"),
        "queue_late" => w("Stage {0} is late"),
        "export_late" => w("Changes reach the topic late"),
        "feed_unreachable" => w("Feed {0} cannot be fetched"),
        "feeds_unserved" => w("Feeds are served by nobody"),
        "load_stuck" => w("A load of feed {0} is stuck"),
        "photos_missing" => w("Files of photos are missing"),
        "load_waits" => w("A load of feed {0} waits to be confirmed"),
        "task_failing" => w("Task {0} fails"),
        "task_silent" => w("Task {0} has been silent for too long"),
        "task_regressed" => w("Parameters of task {0} were moved back"),
        "tasks_undecided" => w("No process decides about tasks"),
        "looks_fail" => w("It cannot be looked at: {0}"),
        "figures_full" => w("There are more figures than are kept"),
        "time_moves" => w("The demo makes up its past"),
        _ => return (wrong.text.clone(), None),
    };
    // Several of a kind are told in one line without a name.
    if visit.language() == Language::English || known.contains("{0}") && wrong.about.is_empty() {
        return (wrong.text.clone(), None);
    }
    let more = (!SAID_WHOLLY.contains(&&*wrong.code)).then_some(&*wrong.text);
    (visit.f(known, &[&wrong.about]), more)
}

/// Problems of which the words of Torg say no more than the translation does: no name, no number, no reason.
const SAID_WHOLLY: [&str; 3] = ["figures_full", "tasks_undecided", "time_moves"];

/// What to do, in the language of the person. Behind it stand the words of Torg, if they have a command.
fn remedy(visit: &Visit, wrong: &Problem) -> Markup {
    let known = match &*wrong.code {
        "store_away" => w("See whether the database runs and can be reached. Torg goes on by itself."),
        "store_full" => w("Free some room on the disk. Torg goes on by itself."),
        "store_read_only" => w("See why the database takes no writes. Torg goes on by itself."),
        "store_failed" => w("See to the disk, then start the process again."),
        "store_damaged" => w("Stop the processes, check the store, and restore it from a copy."),
        "consumer_stuck" => w("Start a process with the role scheduler, or see its log."),
        "topics_away" => w("See whether Kafka runs and can be reached. Changes wait and are not lost."),
        "not_ready" => w("See the log of the process."),
        "process_gone" => w("See its log, and start it again."),
        "shard_unserved" => w("Start a process with the role scheduler."),
        "stage_down" => w("See whether it runs. Its offers wait and are not lost."),
        "stage_paused" => w("Let it go on when it may."),
        "stage_parked" => w("See why, mend it, and release them."),
        "queue_late" => w("See what stands in its way; raise its limits."),
        "export_late" => w("See whether the topics take messages."),
        "feed_unreachable" => {
            w("It is tried again by itself. If it stays so, ask the seller for a link that works.")
        }
        "feeds_unserved" => w("Start a process with the roles loader and processor."),
        "load_stuck" => w("See the logs of the processes with the roles processor and scheduler."),
        "photos_missing" => {
            w("See whether the place of the files is the right one; restore them from a copy.")
        }
        "load_waits" => w("Look at the load; confirm it, or bring a better file."),
        "task_failing" => w("See the log of its run. It is tried again by itself."),
        "task_silent" => w("See what it waits for."),
        "task_regressed" => w("See which of its values were moved back, and choose what to do."),
        "tasks_undecided" => w("Start a process with the role reactive."),
        "looks_fail" => {
            w("Until it can be, nothing that is wrong there is told. See the log of the process.")
        }
        "figures_full" => w("Figures of what is gone make room after six hours."),
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

/// A text with its commands, which stand between backticks, set apart.
fn commands(text: &str) -> Markup {
    html! {
        @for (place, piece) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// The page about what is wrong, if the person may see it: topics are not for everybody who sees what is wrong.
fn place_of(wrong: &Problem, topics: bool) -> Option<String> {
    let about = &*wrong.about;
    let kind = wrong.code.split('_').next().unwrap_or_default();
    Some(match kind {
        "stage" | "queue" if !about.is_empty() => path(&["stages", about]),
        "feed" | "load" => {
            // Sellers may have any name; the names of feeds have no such sign.
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
