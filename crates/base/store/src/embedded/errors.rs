//! Conversion of fjall's errors.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::{Error, Result};

/// `place` is the key, table or folder that fjall worked on.
pub(super) fn engine_error(error: &fjall::Error, place: &str) -> Error {
    use fjall::Error as E;
    match error {
        E::Storage(fjall::LsmError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Error::Corrupt {
                place: place.to_owned(),
                detail: "a data file is shorter than it should be".to_owned(),
            }
        }
        E::Storage(fjall::LsmError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            Error::Corrupt { place: place.to_owned(), detail: "a data file is missing".to_owned() }
        }
        E::Io(error) | E::Storage(fjall::LsmError::Io(error)) => io_error(error, place),
        E::Storage(error) => Error::Corrupt { place: place.to_owned(), detail: error.to_string() },
        E::Locked => Error::Locked { path: place.to_owned() },
        E::Poisoned => Error::Engine {
            engine: "fjall",
            detail: "an earlier write failed and the engine stopped; restart the process".to_owned(),
        },
        other => Error::Corrupt { place: place.to_owned(), detail: other.to_string() },
    }
}

pub(super) fn io_error(error: &io::Error, place: &str) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::DiskFull { detail: format!("{place}: {error}") }
        }
        _ => Error::Io { path: place.to_owned(), detail: error.to_string() },
    }
}

pub(super) fn path_error(error: &io::Error, path: &Path) -> Error {
    io_error(error, &path.display().to_string())
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread is caught by the embedded engine and becomes [`Error::Corrupt`].
/// Panic hooks need not report such a panic.
#[must_use]
pub fn panic_becomes_error() -> bool {
    GUARDED.get()
}

/// Runs engine code that may meet damaged files. fjall panics at some malformed bytes; to a caller
/// that is damage like any other.
pub(super) fn guarded<T>(place: impl FnOnce() -> String, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| {
        let detail = format!("the engine cannot read it ({})", panic_text(&*panic));
        Err(Error::Corrupt { place: place(), detail })
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
