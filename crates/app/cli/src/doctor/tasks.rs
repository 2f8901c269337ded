//! Checks reactive tasks: whether the configured files are valid, and which tasks fail.

use taskfile::TaskSet;
use wire::torg::tasks::v1::list_tasks_request::Standing;
use wire::torg::tasks::v1::{ListTasksRequest, TaskServiceClient, TaskSummary};

use super::closed::Closed;
use super::finding::{Area, Finding};
use super::limits::TASKS_PAGE;
use super::process::{Process, is_not_served};
use crate::remote::{Remote, said};
use node::config::Config;
use text::shell::quoted;

/// Checks the files that a process applies at start.
pub(super) fn files(config: &Config) -> Option<Finding> {
    let path = &config.tasks.path;
    if path.as_os_str().is_empty() {
        return None;
    }
    let shown = path.display();
    let typed = quoted(&path.to_string_lossy());
    let remedy = format!("`torg tasks validate {typed}` shows everything that is wrong");
    let texts = match taskfile::load(path) {
        Ok(texts) => texts,
        Err(error) => return Some(Finding::error(Area::Tasks, error.to_string(), "correct tasks.path")),
    };
    Some(match TaskSet::read(texts) {
        Ok(set) if set.warnings().is_empty() => {
            Finding::ok(Area::Tasks, format!("{} tasks in {shown}", set.len()))
        }
        Ok(set) => {
            let count = set.warnings().len() + set.more_warnings();
            Finding::note(Area::Tasks, format!("{count} warnings about the tasks in {shown}"), remedy)
        }
        Err(errors) => {
            let count = errors.errors.len() + errors.more;
            let first = errors
                .errors
                .first()
                .map(|first| format!(": {}:{}: {}", first.file, first.at.line, first.message));
            let what = format!("{count} errors in {shown}{}", first.unwrap_or_default());
            Finding::error(Area::Tasks, what, remedy)
        }
    })
}

/// Tasks that need attention, as a process reports them.
pub(super) async fn at_work(process: &Process, closed: &mut Closed) -> Vec<Finding> {
    let Remote { connection, config } = process.calls();
    let client = TaskServiceClient::new(connection, config);
    let standing = [Standing::STANDING_FAILING, Standing::STANDING_REGRESSED, Standing::STANDING_SILENT];
    let standing = standing.map(Into::into).into();
    let request = ListTasksRequest { standing, page_size: TASKS_PAGE, ..ListTasksRequest::default() };
    match client.list_tasks(request).await {
        Ok(answer) => answer.tasks.iter().map(judge).collect(),
        Err(error) if is_not_served(error.code) || closed.keeps(&error, &[Area::Tasks]) => Vec::new(),
        Err(error) => vec![Finding::failed(Area::Tasks, &said(&error), "look at the log of the process")],
    }
}

fn judge(task: &TaskSummary) -> Finding {
    let name = &task.name;
    let typed = quoted(name);
    let what = if task.failing {
        format!("task {name} fails")
    } else {
        format!("task {name} does not run as it should")
    };
    Finding::warning(
        Area::Tasks,
        what,
        format!("torg tasks explain {typed} says why, torg tasks log {typed} what it said"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn files_with_errors_are_told_with_the_first_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tasks.yaml");
        let mut config = Config::default();
        assert!(files(&config).is_none());
        config.tasks.path.clone_from(&file);
        assert_eq!(files(&config).unwrap().severity, Severity::Error, "there is no file");
        std::fs::write(&file, "tasks: {report: {when: {new_day: a.b}, run: echo}}").unwrap();
        assert_eq!(files(&config).unwrap().severity, Severity::Ok);
        std::fs::write(&file, "tasks: {report: {wehn: {new_day: a.b}, run: echo}}").unwrap();
        let told = files(&config).unwrap();
        assert!(told.severity == Severity::Error && told.what.contains("tasks.yaml:1: "), "{told:?}");
    }
}
