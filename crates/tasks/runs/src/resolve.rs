//! What depends on where and by whom a run is started is settled before it is claimed.

use std::path::absolute;

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::spec::{Spec, What};

/// The same run, with the inherited variables as they are now, and with an absolute directory.
pub(crate) fn resolved(spec: &Spec) -> Result<Spec> {
    let mut spec = spec.clone();
    let What::Command(command) = &mut spec.what else { return Ok(spec) };
    for name in std::mem::take(&mut command.inherit) {
        let Some(value) = std::env::var_os(&name) else { continue };
        let value = value.into_string().map_err(|_| {
            Error::spec(
                format!("environment.{name}"),
                "the inherited variable is not UTF-8: set it in the task",
            )
        })?;
        command.environment.entry(name).or_insert(Secret::from(value));
    }
    if let Some(directory) = &mut command.directory {
        let named = absolute(&*directory).map_err(|error| Error::spec("directory", error.to_string()))?;
        *directory = named;
    }
    Ok(spec)
}
