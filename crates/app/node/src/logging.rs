//! Logging to stderr as text or JSON. Panics become log lines.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{Log, LogFormat};
use terminal::colours_on_stderr;

/// Libraries whose own log lines are off by default: their errors arrive as results, and the store
/// logs them.
const QUIET: [&str; 2] = ["fjall", "lsm_tree"];

/// Starts logging. Must be called once, before anything logs. The libraries of the embedded store
/// log only if `log.level` names them.
pub fn init(log: &Log) -> anyhow::Result<()> {
    let filter: Targets = with_quiet_libraries(&log.level).parse().context("log.level")?;
    let (terminal, colours) = (std::io::stderr().is_terminal(), colours_on_stderr());
    let json = match log.format {
        LogFormat::Human => false,
        LogFormat::Json => true,
        LogFormat::Auto => !terminal,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    let lines = if json {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
    } else {
        lines.boxed()
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init()
        .context("cannot start logging")?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Adds `fjall=off` and the like for libraries that the level does not name.
fn with_quiet_libraries(level: &str) -> String {
    let is_named = |library: &str| {
        level.split(',').any(|directive| {
            let target = directive.split('=').next().unwrap_or_default().trim();
            target.split("::").next() == Some(library)
        })
    };
    let off = QUIET.into_iter().filter(|library| !is_named(library)).map(|library| format!("{library}=off"));
    let given = Some(level.to_owned()).filter(|level| !level.trim().is_empty());
    given.into_iter().chain(off).collect::<Vec<_>>().join(",")
}

/// Logs a panic as one line with its location, instead of the default output on stderr.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    if store::panic_becomes_error() {
        return;
    }
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, backtrace = %std::backtrace::Backtrace::capture(), "panic: {}", panic_message(panic.payload()));
}

pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_store_are_quiet_unless_they_are_named() {
        for (level, whole) in [
            ("info", "info,fjall=off,lsm_tree=off"),
            ("", "fjall=off,lsm_tree=off"),
            ("warn,fjall=debug", "warn,fjall=debug,lsm_tree=off"),
            ("warn, lsm_tree::tree = debug,torg=info", "warn, lsm_tree::tree = debug,torg=info,fjall=off"),
            ("fjall,lsm_tree", "fjall,lsm_tree"),
        ] {
            assert_eq!(with_quiet_libraries(level), whole);
        }
        let targets: Targets = with_quiet_libraries("error").parse().unwrap();
        let shows = |target| targets.would_enable(target, &tracing::Level::ERROR);
        assert!(shows("torg") && !shows("fjall::journal") && !shows("lsm_tree"));
    }
}
