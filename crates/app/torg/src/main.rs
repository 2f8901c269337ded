//! The `torg` binary.

use std::process::ExitCode;

/// Commits allocate on one thread and free on another: memory of the system's allocator never
/// shrinks under that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
