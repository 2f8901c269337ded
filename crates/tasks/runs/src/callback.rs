//! Ends of runs that services report by a callback.

use clock::Time;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::calls::truncate;
use crate::end::{End, Reason};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::id::RunId;
use crate::limits::{DETAIL_BYTES_MAX, OUTPUT_VALUES_MAX};
use crate::spec::{Action, Done};
use crate::value::{Values, wrong_name};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Otherwise the work failed.
    pub done: bool,
    #[serde(default)]
    pub detail: String,
    #[serde(default)]
    pub sets: Values,
}

/// Notes the end that a service reports; returns whether it is the first.
pub(crate) fn note(folder: &Folder, run: &RunId, token: &str, callback: Callback, now: Time) -> Result<bool> {
    let refused = |what: &str| Error::Callback { run: run.clone(), what: what.to_owned() };
    if folder.end()?.is_some() {
        return Ok(false);
    }
    let known = folder.token()?.ok_or_else(|| Error::NotStarted(run.clone()))?;
    if !bool::from(known.as_bytes().ct_eq(token.as_bytes())) {
        return Err(Error::Token(run.clone()));
    }
    let waits = folder
        .spec()?
        .is_some_and(|spec| matches!(spec.action, Action::Http(http) if http.done == Done::Callback));
    if !waits {
        return Err(refused("its end is reported in another way"));
    }
    let started = folder.started()?.ok_or_else(|| Error::NotStarted(run.clone()))?;
    if callback.sets.len() > OUTPUT_VALUES_MAX {
        return Err(refused("it sets too many values"));
    }
    if let Some((name, what)) =
        callback.sets.keys().find_map(|name| wrong_name(name).map(|what| (name, what)))
    {
        return Err(refused(&format!("it sets {name:?}: {what}")));
    }
    let reason = if callback.done { Reason::Done } else { Reason::Failed };
    let detail = truncate(&callback.detail, DETAIL_BYTES_MAX);
    let sets = if callback.done { callback.sets } else { Values::new() };
    folder.note_end(&End { sets, ..End::new(reason, detail, started.since, now) })
}
