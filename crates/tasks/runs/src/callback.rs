//! Ends that services tell by calling back.

use clock::Time;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::calls::shortened;
use crate::end::{End, Reason};
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::id::RunId;
use crate::limits::{DETAIL_BYTES_MAX, OUTPUT_VALUES_MAX};
use crate::spec::{Done, What};
use crate::value::{Values, wrong_name};

/// What a service says when it calls back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallBack {
    /// Whether the work is done; otherwise it failed.
    pub done: bool,
    /// More about it, for people.
    #[serde(default)]
    pub detail: String,
    /// Values that are set, if the work is done.
    #[serde(default)]
    pub sets: Values,
}

/// Notes the end that a service tells: says whether it is the first. `now` is when it is told.
pub(crate) fn note(folder: &Folder, run: &RunId, token: &str, said: CallBack, now: Time) -> Result<bool> {
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
        .is_some_and(|spec| matches!(spec.what, What::Http(http) if http.done == Done::Callback));
    if !waits {
        return Err(refused("its end is told in another way"));
    }
    let started = folder.started()?.ok_or_else(|| Error::NotStarted(run.clone()))?;
    if said.sets.len() > OUTPUT_VALUES_MAX {
        return Err(refused("it sets too many values"));
    }
    if let Some((name, what)) = said.sets.keys().find_map(|name| wrong_name(name).map(|what| (name, what))) {
        return Err(refused(&format!("it sets {name:?}: {what}")));
    }
    let reason = if said.done { Reason::Done } else { Reason::Failed };
    let detail = shortened(&said.detail, DETAIL_BYTES_MAX);
    let sets = if said.done { said.sets } else { Values::new() };
    folder.note_end(&End { sets, ..End::new(reason, detail, started.since, now) })
}
