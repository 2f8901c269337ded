//! All tasks, for counts, the graph, and the readers of a value.

use wire::torg::tasks::v1::{ListTasksRequest, TaskSummary};

use crate::limits::{TASKS_FOLLOWED_MAX, TASKS_LOOKED_AT_MAX};
use crate::services::Failure;
use crate::visit::Visit;

/// Page size of the calls.
const PAGE: u32 = 500;

pub(in crate::pages) struct All {
    pub(in crate::pages) tasks: Vec<TaskSummary>,
    /// Whether these are all tasks; the number read is limited.
    pub(in crate::pages) complete: bool,
    /// Whether a name prefix was given.
    chosen: bool,
}

impl All {
    /// Whether pages refresh the tasks. With more tasks the page stays as it was opened.
    pub(in crate::pages) fn are_followed(&self) -> bool {
        self.complete && !self.chosen && self.tasks.len() <= TASKS_FOLLOWED_MAX
    }
}

/// The tasks with this name prefix.
pub(in crate::pages) async fn all(visit: &Visit, prefix: &str) -> Result<All, Failure> {
    let mut request = ListTasksRequest { prefix: prefix.to_owned(), page_size: PAGE, ..Default::default() };
    let (mut tasks, chosen) = (Vec::new(), !prefix.is_empty());
    loop {
        let page = visit.call(&request).await?;
        tasks.extend(page.tasks);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return Ok(All { tasks, complete: true, chosen });
        }
        if tasks.len() >= if visit.preferences().live { TASKS_FOLLOWED_MAX } else { TASKS_LOOKED_AT_MAX } {
            return Ok(All { tasks, complete: false, chosen });
        }
    }
}
