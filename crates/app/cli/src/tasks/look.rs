//! `torg tasks list | explain | queue | history | runs`: shows the state of tasks.

use clap::Args;
use wire::torg::tasks::v1 as proto;

use super::asked::{Asked, answered};
use super::given::Standing;
use super::words;
use node::config::Config;

/// Tasks per request.
const TASKS_PAGE: u32 = 500;
/// Events or runs per request.
const PAST_PAGE: u32 = 1000;

/// Which tasks to show.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Only tasks whose names begin so.
    #[arg(default_value = "")]
    prefix: String,
    /// Only tasks that stand so; may be given several times.
    #[arg(long, value_enum, value_name = "STANDING", value_delimiter = ',')]
    standing: Vec<Standing>,
    #[command(flatten)]
    asked: Asked,
}

pub(super) async fn list(listing: Listing, config: &Config) -> anyhow::Result<()> {
    let Listing { prefix, standing, asked } = listing;
    let client = asked.client(config).await?;
    let mut all = proto::ListTasksResponse::default();
    let filtered = !prefix.is_empty() || !standing.is_empty();
    let standing = standing.into_iter().map(|standing| standing.to_wire().into()).collect();
    let mut request =
        proto::ListTasksRequest { prefix, standing, page_size: TASKS_PAGE, ..Default::default() };
    loop {
        let page = answered(client.list_tasks(request.clone()).await)?;
        all.tasks.extend(page.tasks);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    asked.say(&all, || match &*all.tasks {
        [] if filtered => vec!["no task is so: torg tasks list shows all".to_owned()],
        [] => vec!["there is no task yet: torg tasks apply FILES --reason WHY".to_owned()],
        tasks => words::tasks(tasks),
    })
}

pub(super) async fn explain(task: String, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let answer = explained(task, asked, config).await?;
    asked.say(&answer, || vec![answer.text.clone()])
}

pub(super) async fn explained(
    task: String,
    asked: &Asked,
    config: &Config,
) -> anyhow::Result<proto::ExplainTaskResponse> {
    let request = proto::ExplainTaskRequest { task, ..Default::default() };
    answered(asked.client(config).await?.explain_task(request).await)
}

pub(super) async fn queue(asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let answer = answered(client.get_queue(proto::GetQueueRequest::default()).await)?;
    asked.say(&answer, || words::queue(&answer))
}

pub(super) async fn history(task: String, limit: u32, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let mut all = proto::ListEventsResponse::default();
    let mut request = proto::ListEventsRequest { task: task.clone(), ..Default::default() };
    while all.events.len() < limit as usize {
        request.page_size = (limit - all.events.len() as u32).min(PAST_PAGE);
        let page = answered(client.list_events(request.clone()).await)?;
        let Some(last) = page.events.last() else { break };
        request.before = last.version;
        all.events.extend(page.events);
    }
    asked.say(&all, || match &*all.events {
        [] => vec![format!("nothing happened to {task} yet")],
        events => words::history(events),
    })
}

pub(super) async fn runs(task: String, limit: u32, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let mut all = proto::ListRunsResponse::default();
    let mut request = proto::ListRunsRequest { task: task.clone(), ..Default::default() };
    while all.runs.len() < limit as usize {
        request.page_size = (limit - all.runs.len() as u32).min(PAST_PAGE);
        let page = answered(client.list_runs(request.clone()).await)?;
        let Some(last) = page.runs.last() else { break };
        request.before = last.number;
        all.runs.extend(page.runs);
    }
    asked.say(&all, || match &*all.runs {
        [] => vec![format!("{task} has never run: torg tasks explain {task} says why")],
        runs => words::runs(runs),
    })
}
