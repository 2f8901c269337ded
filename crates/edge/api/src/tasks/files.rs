//! Task files: apply and read.

use std::collections::BTreeMap;

use access::{Action, Caller};
use planner::TaskName;
use planner::deploy::AtOnce;
use taskfile::Problem;
use taskfile::limits::FILES_MAX;
use tasks::{Applied, Error};
use wire::torg::tasks::v1::{self as proto, apply_tasks_response as applied};

use super::TaskCalls;
use crate::caller::require;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{REFUSAL_PATH_BYTES_MAX, TAKE_UP_LOOK, TAKE_UP_WAIT, count, name};

impl TaskCalls {
    pub(super) async fn apply(
        &self,
        caller: &Caller,
        request: proto::ApplyTasksRequest,
    ) -> Result<proto::ApplyTasksResponse, Refusal> {
        require(caller, Action::Administer)?;
        if request.files.is_empty() {
            return Err(Refusal::required("files"));
        }
        count("files", request.files.len(), FILES_MAX)?;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (place, file) in request.files.iter().enumerate() {
            let field = format!("files[{place}].name");
            name(&field, &file.name, REFUSAL_PATH_BYTES_MAX)?;
            if places.insert(file.name.clone(), place).is_some() {
                return Err(Refusal::wrong_field(&field, "TWICE", "two files have the same name"));
            }
        }
        let signed = if request.dry_run { None } else { Some(self.signed(caller, &request.reason)?) };
        let files = request.files.into_iter().map(|file| (file.name, file.text)).collect();
        let applied = match self.tasks.apply(files, signed.as_ref()).await {
            Err(Error::Files(errors)) => return Err(mistakes(&errors.errors, errors.more, &places)),
            other => other?,
        };
        let taken_up = self.wait_until_used(&applied).await;
        Ok(answer(applied, taken_up))
    }

    /// Waits a while until the planner uses the new definitions.
    async fn wait_until_used(&self, applied: &Applied) -> bool {
        let Some(deployment) = &applied.deployment else { return false };
        let wait = async {
            loop {
                let known =
                    self.tasks.definitions().await.is_ok_and(|at_work| at_work.number >= deployment.number);
                let taken = match applied.planned.new.last() {
                    Some(task) if known => self.tasks.get(task).await.is_ok(),
                    _ => known,
                };
                if taken {
                    return;
                }
                tokio::time::sleep(TAKE_UP_LOOK).await;
            }
        };
        tokio::time::timeout(TAKE_UP_WAIT, wait).await.is_ok()
    }

    pub(super) async fn files(
        &self,
        caller: &Caller,
        _request: proto::GetTaskFilesRequest,
    ) -> Result<proto::GetTaskFilesResponse, Refusal> {
        require(caller, Action::Administer)?;
        let Some((deployment, files)) = self.tasks.files().await? else {
            return Ok(proto::GetTaskFilesResponse::default());
        };
        let file = |(name, text): (String, String)| proto::TaskFile { name, text, ..Default::default() };
        Ok(proto::GetTaskFilesResponse {
            deployment: Some(deployment).into(),
            files: files.into_iter().map(file).collect(),
            ..Default::default()
        })
    }
}

/// The mistakes as fields of the request, formatted like compiler messages.
fn mistakes(errors: &[Problem], more: usize, places: &BTreeMap<String, usize>) -> Refusal {
    let fault = |problem: &Problem| {
        let place = places.get(&problem.file).map_or_else(String::new, |place| format!("[{place}].text"));
        let code = problem.code.name().to_uppercase();
        FieldFault::new(format!("files{place}"), code, problem.to_string().trim_end())
    };
    let refusal = Refusal::wrong("WRONG_TASK_FILES", errors.iter().map(fault).collect());
    if more > 0 { refusal.with("more_mistakes", &more) } else { refusal }
}

fn answer(applied: Applied, taken_up: bool) -> proto::ApplyTasksResponse {
    let Applied { deployment, difference, planned, warnings } = applied;
    let goes_on = |task: &TaskName| format!("the run of {task} continues although the task was removed");
    let fires = |fires: &AtOnce| format!("{}: {}", fires.task, fires.calendar.show(&fires.verdict));
    let mut lines = vec![difference.to_string().trim_end().to_owned()];
    lines.extend(planned.gone_running.iter().map(goes_on));
    lines.push(match planned.fires.len() {
        0 => "no task fires at once because of it".to_owned(),
        count => format!("fire at once: {count}"),
    });
    lines.extend(planned.fires.iter().map(fires));
    let changed = difference.changed.iter().map(|(task, aspects)| {
        let aspects = aspects.iter().map(|aspect| aspect.name().to_owned()).collect();
        (task.to_string(), applied::Aspects { aspects, ..Default::default() })
    });
    proto::ApplyTasksResponse {
        deployment: deployment.into(),
        new: difference.added.iter().map(ToString::to_string).collect(),
        changed: changed.collect(),
        gone: difference.gone.iter().map(ToString::to_string).collect(),
        fires: planned.fires.iter().map(at_once).collect(),
        warnings,
        text: lines.join("\n"),
        limits: difference.limits,
        taken_up,
        ..Default::default()
    }
}

fn at_once(fires: &AtOnce) -> applied::FiresAtOnce {
    applied::FiresAtOnce {
        task: fires.task.to_string(),
        first_seen: fires.first_seen.iter().map(ToString::to_string).collect(),
        why: fires.calendar.show(&fires.verdict).to_string(),
        ..Default::default()
    }
}
