//! All tasks, for what concerns many of them: counts, the graph, who reads a value.

use wire::torg::tasks::v1::{ListTasksRequest, TaskSummary};

use crate::limits::{TASKS_FOLLOWED_MAX, TASKS_LOOKED_AT_MAX};
use crate::services::Failure;
use crate::services::methods::LIST_TASKS;
use crate::visit::Visit;

/// Tasks that are asked for at once.
const PAGE: u32 = 500;

/// Tasks by name.
pub(in crate::pages) struct All {
    pub(in crate::pages) tasks: Vec<TaskSummary>,
    /// Whether these are all of them: more than so many are not looked at.
    pub(in crate::pages) complete: bool,
    /// Whether they were chosen by how their names begin.
    chosen: bool,
}

impl All {
    /// Whether there are so few, whatever their names, that pages look at them again and again; of more, what is drawn is as it was when the page was opened.
    pub(in crate::pages) fn are_followed(&self) -> bool {
        self.complete && !self.chosen && self.tasks.len() <= TASKS_FOLLOWED_MAX
    }
}

/// All tasks whose names begin so.
pub(in crate::pages) async fn all(visit: &Visit, prefix: &str) -> Result<All, Failure> {
    let mut request =
        ListTasksRequest { prefix: prefix.to_owned(), page_size: PAGE, ..ListTasksRequest::default() };
    let (mut tasks, chosen) = (Vec::new(), !prefix.is_empty());
    loop {
        let page = visit.call(LIST_TASKS, &request).await?;
        tasks.extend(page.tasks);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return Ok(All { tasks, complete: true, chosen });
        }
        if tasks.len() >= if visit.look().live { TASKS_FOLLOWED_MAX } else { TASKS_LOOKED_AT_MAX } {
            return Ok(All { tasks, complete: false, chosen });
        }
    }
}
