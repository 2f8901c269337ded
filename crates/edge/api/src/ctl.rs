//! `torg.tasks.v1.CtlService`: the values that tasks wait on.

mod beginning;
mod shown;
mod watch;

use access::{Action, Caller, Role};
use connectrpc::{RequestContext, Response, ServiceResult, ServiceStream};
use ctl::limits::{AUTHOR_CHARS_MAX, CHANGES_MAX};
use ctl::{Change, Ctl, Expected, canonical};
use triggers::Parameter;
use wire::torg::tasks::v1::{self as proto, ctl_change};

use self::beginning::Beginning;
pub(crate) use self::shown::read_value;
use crate::caller::of_request;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{
    PAST_PAGE, REASON_TEXT_CHARS_MAX, VALUES_NAMED_MAX, VALUES_PAGE, count, page_size, text,
};
use crate::tokens::{self, About};

/// The service. Cheap to clone.
#[derive(Clone)]
pub struct CtlCalls {
    /// The values.
    pub ctl: Ctl,
    /// Says when the process stops: streams end then.
    pub closing: tokio::sync::watch::Receiver<bool>,
}

/// Refuses whoever may not look at how the process fares.
fn may_look(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::SeeProcess), Refusal::forbidden)
}

/// Refuses whoever is neither a program that loads data nor an administrator.
fn may_set(caller: &Caller) -> Result<(), Refusal> {
    if caller.roles.has(Role::Service) {
        return Ok(());
    }
    Refusal::of_verdict(caller.judge(Action::Administer), Refusal::forbidden)
}

/// The name under which a caller's changes stand in the history.
fn author(caller: &Caller) -> String {
    caller.subject.chars().take(AUTHOR_CHARS_MAX).collect()
}

/// The parameter that a request names in this field, in its shortest form.
pub(crate) fn parameter(field: &str, name: &str) -> Result<Parameter, Refusal> {
    if name.is_empty() {
        return Err(Refusal::required(field));
    }
    let wrong = |text: String| Refusal::wrong_field(field, "WRONG_NAME", text);
    let named: Parameter = name.parse().map_err(|error: triggers::Error| wrong(error.to_string()))?;
    canonical(&named).map_err(|error| wrong(error.to_string()))
}

/// The parameters that a request names in this field, not too many.
fn parameters(field: &str, names: &[String]) -> Result<Vec<Parameter>, Refusal> {
    count(field, names.len(), VALUES_NAMED_MAX)?;
    let each = |(place, name): (usize, &String)| parameter(&format!("{field}[{place}]"), name);
    all(names.iter().enumerate().map(each))
}

/// All that were read, or everything that is wrong.
fn all<T>(read: impl Iterator<Item = Result<T, Refusal>>) -> Result<Vec<T>, Refusal> {
    let (mut right, mut wrong) = (Vec::new(), Vec::<FieldFault>::new());
    for one in read {
        match one {
            Ok(one) => right.push(one),
            Err(refusal) => wrong.extend_from_slice(refusal.fields()),
        }
    }
    if wrong.is_empty() { Ok(right) } else { Err(Refusal::wrong("WRONG_VALUES", wrong)) }
}

/// A change that is asked for, which stands at this place of a request.
fn change(place: usize, asked: &proto::CtlChange) -> Result<Change, Refusal> {
    let at = |field: &str| format!("changes[{place}].{field}");
    let parameter = parameter(&at("parameter"), &asked.parameter)?;
    let mut change = match (asked.value.as_option(), asked.delete) {
        (Some(value), false) => Change::set(parameter, shown::read_value(&at("value"), value)?),
        (None, true) => Change::delete(parameter),
        (None, false) => {
            let text = "has to be given, or delete has to be true";
            return Err(Refusal::wrong_field(&at("value"), "REQUIRED", text));
        }
        (Some(_), true) => {
            let text = "either a value, or delete";
            return Err(Refusal::wrong_field(&at("delete"), "NOT_ALLOWED", text));
        }
    };
    change.expected = match &asked.expected {
        None => None,
        Some(ctl_change::Expected::ExpectedVersion(version)) => Some(Expected::Version(*version)),
        Some(ctl_change::Expected::ExpectedValue(value)) => {
            Some(Expected::Value(Some(shown::read_value(&at("expected_value"), value)?)))
        }
    };
    change.may_move_back = asked.may_move_back;
    change.even_if_same = asked.even_if_same;
    Ok(change)
}

impl CtlCalls {
    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetValuesRequest,
    ) -> Result<proto::GetValuesResponse, Refusal> {
        may_look(caller)?;
        if request.parameters.is_empty() {
            return Err(Refusal::required("parameters"));
        }
        let named = parameters("parameters", &request.parameters)?;
        let values = self.ctl.get_many(&named).await?;
        let values = named.iter().zip(&values).map(|(name, value)| shown::current(name, value.as_ref()));
        Ok(proto::GetValuesResponse { values: values.collect(), ..Default::default() })
    }

    async fn list(
        &self,
        caller: &Caller,
        request: proto::ListValuesRequest,
    ) -> Result<proto::ListValuesResponse, Refusal> {
        may_look(caller)?;
        let limit = page_size(request.page_size, VALUES_PAGE)?;
        let beginning = Beginning::of("prefix", &request.prefix)?;
        let about = About::method("ListValues").and("prefix", &request.prefix);
        let after: Option<String> =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let after = after.map(|name| parameter("page_token", &name)).transpose()?;
        let mut values = beginning.values(&self.ctl, after, limit + 1).await?;
        let more = values.len() > limit;
        values.truncate(limit);
        let next = values.last().filter(|_| more).map(|(name, _)| name.to_string());
        Ok(proto::ListValuesResponse {
            values: values.iter().map(|(name, value)| shown::current(name, Some(value))).collect(),
            next_page_token: tokens::encode(&about, next.as_ref()),
            ..Default::default()
        })
    }

    async fn set(
        &self,
        caller: &Caller,
        request: proto::SetValuesRequest,
    ) -> Result<proto::SetValuesResponse, Refusal> {
        may_set(caller)?;
        if request.changes.is_empty() {
            return Err(Refusal::required("changes"));
        }
        count("changes", request.changes.len(), CHANGES_MAX)?;
        text("reason", &request.reason, REASON_TEXT_CHARS_MAX)?;
        let changes = all(request.changes.iter().enumerate().map(|(place, asked)| change(place, asked)))?;
        let done = self.ctl.set(changes, &author(caller), &request.reason).await?;
        let done = done.into_iter().map(shown::done).collect();
        Ok(proto::SetValuesResponse { done, ..Default::default() })
    }

    async fn history(
        &self,
        caller: &Caller,
        request: proto::ListHistoryRequest,
    ) -> Result<proto::ListHistoryResponse, Refusal> {
        may_look(caller)?;
        let limit = page_size(request.page_size, PAST_PAGE)?;
        let of = parameter("parameter", &request.parameter)?;
        let about = About::method("ListHistory").and("parameter", of.to_string());
        let before: Option<u64> =
            tokens::decode(&about, &request.page_token).map_err(|wrong| wrong.refusal("page_token"))?;
        let mut changes = self.ctl.history(&of, before, limit + 1).await?;
        let more = changes.len() > limit;
        changes.truncate(limit);
        let next = changes.last().filter(|_| more).map(|last| last.version);
        Ok(proto::ListHistoryResponse {
            changes: changes.into_iter().map(shown::past).collect(),
            next_page_token: tokens::encode(&about, next.as_ref()),
            ..Default::default()
        })
    }
}

impl proto::CtlService for CtlCalls {
    async fn get_values(
        &self,
        context: RequestContext,
        request: proto::GetValuesRequest,
    ) -> ServiceResult<proto::GetValuesResponse> {
        Response::ok(self.get(of_request(&context)?, request).await?)
    }

    async fn list_values(
        &self,
        context: RequestContext,
        request: proto::ListValuesRequest,
    ) -> ServiceResult<proto::ListValuesResponse> {
        Response::ok(self.list(of_request(&context)?, request).await?)
    }

    async fn set_values(
        &self,
        context: RequestContext,
        request: proto::SetValuesRequest,
    ) -> ServiceResult<proto::SetValuesResponse> {
        Response::ok(self.set(of_request(&context)?, request).await?)
    }

    async fn list_history(
        &self,
        context: RequestContext,
        request: proto::ListHistoryRequest,
    ) -> ServiceResult<proto::ListHistoryResponse> {
        Response::ok(self.history(of_request(&context)?, request).await?)
    }

    async fn watch_values(
        &self,
        context: RequestContext,
        request: proto::WatchValuesRequest,
    ) -> ServiceResult<ServiceStream<proto::WatchValuesResponse>> {
        Response::stream_ok(self.watch(of_request(&context)?, request).await?)
    }
}
