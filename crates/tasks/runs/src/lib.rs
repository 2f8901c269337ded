//! Runs of tasks that survive a restart of the process that started them: commands, HTTP calls,
//! gRPC calls.
//!
//! A run has an id and a folder. The folder is its whole state, which any process may read:
//! starting an id again finds the first run. Guarantees:
//! - **Once.** A command is started at most once per id. A note is synced before anything happens:
//!   a run with the note is never started again, one without it can always be started. A call
//!   carries the run's id as idempotency key, perhaps more than once.
//! - **Not lost.** A command runs under a supervisor, a process in its own session, which notes the
//!   end. The process that started it may be killed: another one finds the run
//!   [running](Status::Running) or [ended](Status::Ended). A call is [resumed](Status::Abandoned)
//!   where it was.
//! - **Locks, not process ids.** A run is running if and only if the lock of its folder is held.
//!   Process ids are never trusted: a kill goes to the supervisor, which signals the group of its
//!   own child.
//! - **No leftovers.** When a command ends, the processes that it left behind are killed, in any
//!   group or session. When the supervisor is killed, the kernel kills the command with it; other
//!   processes of the run are killed by the next [`Runner::status`] (before it returns
//!   [`Status::Died`]), found by a variable in their environment. Two kinds escape if the
//!   supervisor is killed: processes that cleared their environment, and a command that changed its
//!   user (`sudo`).
//! - **Limited.** Time, log, output and responses are bounded; of a log the beginning and the end
//!   are kept.
//!
//! A service manager that ends all processes of a unit together (systemd by default) also ends
//! supervisors and commands: such runs have died and are to be tried again. `KillMode=process`
//! keeps them.
//!
//! Where things are: what to do ([`Spec`], `check.rs`), the folder and its races (`folder.rs`,
//! `status.rs`, `durable.rs`), the supervisor (`supervise.rs`, `launch.rs`, `reap.rs`, `sweep.rs`),
//! the log (`log.rs`), calls (`calls.rs`, `calls/`), values of commands (`value.rs`, `output.rs`),
//! the API ([`Runner`]).

mod callback;
mod calls;
mod check;
mod durable;
mod end;
mod error;
mod folder;
mod id;
mod launch;
pub mod limits;
mod local;
mod log;
mod options;
mod output;
mod reap;
mod runner;
mod secret;
mod spec;
mod status;
mod supervise;
mod sweep;
mod tls;
mod value;

pub use callback::Callback;
pub use end::{End, Reason};
pub use error::{Error, Result};
pub use id::RunId;
pub use log::LogChunk;
pub use options::{Options, Verb};
pub use runner::{Handle, Runner};
pub use secret::Secret;
pub use spec::{Action, Chunk, Command, CommandLine, Done, Grpc, Http, Poll, PollResult, Spec, Tls};
pub use status::Status;
pub use supervise::supervise;
pub use value::{Values, variable};
