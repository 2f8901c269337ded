//! `torg.tasks.v1.CtlService`: values that tasks wait for.

mod messages;
mod prefix;
mod watch;

use access::{Action, Caller, Role};
use ctl::limits::{AUTHOR_CHARS_MAX, CHANGES_MAX};
use ctl::{Change, Ctl, Expected, canonical};
use triggers::Parameter;
use wire::torg::tasks::v1::{self as proto, ctl_change};

pub(crate) use self::messages::read_value;
use self::prefix::NamePrefix;
use crate::caller::require;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{
    PAST_PAGE, REASON_TEXT_CHARS_MAX, VALUES_NAMED_MAX, VALUES_PAGE, count, page_size, text,
};
use crate::service::service;
use crate::tokens::{self, About};

/// The service. Cheap to clone.
#[derive(Clone)]
pub struct CtlCalls {
    pub ctl: Ctl,
    /// Becomes true when the process stops: streams end then.
    pub closing: tokio::sync::watch::Receiver<bool>,
}

/// Allows services and admins.
fn may_set(caller: &Caller) -> Result<(), Refusal> {
    if caller.roles.has(Role::Service) {
        return Ok(());
    }
    require(caller, Action::Administer)
}

/// The author in the history.
fn author(caller: &Caller) -> String {
    caller.subject.chars().take(AUTHOR_CHARS_MAX).collect()
}

/// Parses a parameter in this field to its canonical form.
pub(crate) fn parameter(field: &str, name: &str) -> Result<Parameter, Refusal> {
    if name.is_empty() {
        return Err(Refusal::required(field));
    }
    let wrong = |text: String| Refusal::wrong_field(field, "WRONG_NAME", text);
    let named: Parameter = name.parse().map_err(|error: triggers::Error| wrong(error.to_string()))?;
    canonical(&named).map_err(|error| wrong(error.to_string()))
}

/// Parses several parameters.
fn parameters(field: &str, names: &[String]) -> Result<Vec<Parameter>, Refusal> {
    count(field, names.len(), VALUES_NAMED_MAX)?;
    let each = |(place, name): (usize, &String)| parameter(&format!("{field}[{place}]"), name);
    all(names.iter().enumerate().map(each))
}

/// All results, or all errors.
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

/// Parses the change at this index.
fn change(place: usize, wanted: &proto::CtlChange) -> Result<Change, Refusal> {
    let at = |field: &str| format!("changes[{place}].{field}");
    let parameter = parameter(&at("parameter"), &wanted.parameter)?;
    let mut change = match (wanted.value.as_option(), wanted.delete) {
        (Some(value), false) => Change::set(parameter, messages::read_value(&at("value"), value)?),
        (None, true) => Change::delete(parameter),
        (None, false) => {
            let text = "is required unless delete is true";
            return Err(Refusal::wrong_field(&at("value"), "REQUIRED", text));
        }
        (Some(_), true) => {
            let text = "give a value or delete, not both";
            return Err(Refusal::wrong_field(&at("delete"), "NOT_ALLOWED", text));
        }
    };
    change.expected = match &wanted.expected {
        None => None,
        Some(ctl_change::Expected::ExpectedVersion(version)) => Some(Expected::Version(*version)),
        Some(ctl_change::Expected::ExpectedValue(value)) => {
            Some(Expected::Value(Some(messages::read_value(&at("expected_value"), value)?)))
        }
    };
    change.may_move_back = wanted.may_move_back;
    change.even_if_same = wanted.even_if_same;
    Ok(change)
}

impl CtlCalls {
    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetValuesRequest,
    ) -> Result<proto::GetValuesResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        if request.parameters.is_empty() {
            return Err(Refusal::required("parameters"));
        }
        let named = parameters("parameters", &request.parameters)?;
        let values = self.ctl.get_many(&named).await?;
        let values = named.iter().zip(&values).map(|(name, value)| messages::current(name, value.as_ref()));
        Ok(proto::GetValuesResponse { values: values.collect(), ..Default::default() })
    }

    async fn list(
        &self,
        caller: &Caller,
        request: proto::ListValuesRequest,
    ) -> Result<proto::ListValuesResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let limit = page_size(request.page_size, VALUES_PAGE)?;
        let prefix = NamePrefix::of("prefix", &request.prefix)?;
        let about = About::method("ListValues").and("prefix", &request.prefix);
        let after: Option<String> = tokens::page(&about, &request.page_token)?;
        let after = after.map(|name| parameter("page_token", &name)).transpose()?;
        let mut values = prefix.values(&self.ctl, after, limit + 1).await?;
        let next_page_token = tokens::cut(&about, &mut values, limit, |(name, _)| name.to_string());
        Ok(proto::ListValuesResponse {
            values: values.iter().map(|(name, value)| messages::current(name, Some(value))).collect(),
            next_page_token,
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
        let changes = all(request.changes.iter().enumerate().map(|(place, wanted)| change(place, wanted)))?;
        let done = self.ctl.set(changes, &author(caller), &request.reason).await?;
        let done = done.into_iter().map(messages::done).collect();
        Ok(proto::SetValuesResponse { done, ..Default::default() })
    }

    async fn history(
        &self,
        caller: &Caller,
        request: proto::ListHistoryRequest,
    ) -> Result<proto::ListHistoryResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let limit = page_size(request.page_size, PAST_PAGE)?;
        let of = parameter("parameter", &request.parameter)?;
        let about = About::method("ListHistory").and("parameter", of.to_string());
        let before: Option<u64> = tokens::page(&about, &request.page_token)?;
        let mut changes = self.ctl.history(&of, before, limit + 1).await?;
        let next_page_token = tokens::cut(&about, &mut changes, limit, |last| last.version);
        Ok(proto::ListHistoryResponse {
            changes: changes.into_iter().map(messages::past).collect(),
            next_page_token,
            ..Default::default()
        })
    }
}

service! { CtlService for CtlCalls {
    get_values(GetValuesRequest) -> GetValuesResponse = get;
    list_values(ListValuesRequest) -> ListValuesResponse = list;
    set_values(SetValuesRequest) -> SetValuesResponse = set;
    list_history(ListHistoryRequest) -> ListHistoryResponse = history;
    stream watch_values(WatchValuesRequest) -> WatchValuesResponse = watch;
}}
