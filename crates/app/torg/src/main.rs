//! The `torg` binary.
//!
//! `cli` reads the command line and the configuration (`config`) and calls the command's module. `serve` wires a running
//! process: it opens what the configuration names (`parts`) and hands it to `server`, which speaks HTTP and RPC on one port.
//! Commands that do one thing and end are in `commands`, measurements in `bench`. `observe` tells how a process fares, `actions` who
//! did what, `demo` makes a marketplace to look at.

mod actions;
mod bench;
mod built_in;
mod cli;
mod commands;
mod config;
mod declaration;
mod demo;
mod errors;
mod feeding;
mod gatekeeper;
mod logging;
mod marketplace;
mod nearest;
mod observe;
mod own_values;
mod parts;
mod reactions;
mod serve;
mod server;
mod stages_file;
mod tasks;

use std::process::ExitCode;

use clap::Parser as _;

/// Commits allocate on one thread and free on another, which the system's allocator answers with memory that never shrinks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else: a supervisor of a run has no thread and no allocation that it does not need.
    if let Some(ended) = reactions::supervised(std::env::args_os()) {
        return ended;
    }
    // Wrong usage ends in here, with exit code 2.
    match cli::run(cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            commands::show::remark(format!("{}\n", errors::report(&error)));
            ExitCode::FAILURE
        }
    }
}
