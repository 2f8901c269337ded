//! Log lines on stderr, for people or for machines, and panics as log lines.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{Log, LogFormat};

/// Starts logging for the process. Call once, before anything logs.
pub(crate) fn init(log: &Log) -> anyhow::Result<()> {
    let filter: Targets = log.level.parse().context("log.level")?;
    let terminal = std::io::stderr().is_terminal();
    let json = match log.format {
        LogFormat::Human => false,
        LogFormat::Json => true,
        LogFormat::Auto => !terminal,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(terminal);
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

/// A panic is a bug of ours: it becomes one log line with its place instead of a dump on stderr.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    if store::panic_becomes_error() {
        return;
    }
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, backtrace = %std::backtrace::Backtrace::capture(), "panic: {}", panic_message(panic.payload()));
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
