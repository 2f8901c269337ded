//! Runs of tasks that survive a restart of whoever started them: commands, HTTP calls, gRPC calls.
//!
//! A run has an id and a folder. The folder is all that is known about it, and any process may look: who starts an id again finds the first run.
//! What is promised:
//! - **Once.** A command is started at most once for an id. Before anything happens a note is forced to the disk; what has the note is never started again, what has none
//!   can always be started. A call is given to the service under the run's id as idempotency key, perhaps more than once.
//! - **Not lost.** A command runs under a supervisor, a process of its own session, which notes the end. Whoever started it may be killed: another process finds
//!   the run [running](Looked::Running) or [ended](Looked::Ended). A call is [taken up](Looked::Left) where it was.
//! - **Known by locks, not by numbers of processes.** A run is under way if and only if somebody holds the lock of its folder. A number is never trusted: a run is killed by
//!   telling its supervisor, which signals the group of its own child.
//! - **Nothing lives on unseen.** When a command ends, what it left behind is killed, also what went into another group or session. When the supervisor is killed, the kernel kills the command with
//!   it; what the command started is killed by the next look at the run (before that says [`Looked::Died`]), found by a variable in its environment. Two kinds get away if the supervisor is
//!   killed: processes that wiped their environment, and a command that changed its user (`sudo`).
//! - **Limited.** Time, log, output and answers have limits; of a log the beginning and the end are kept.
//!
//! A service manager that ends all processes of a unit together (systemd by default) ends supervisors and commands too: such runs have died, and
//! are to be tried again. `KillMode=process` lets them go on.
//!
//! Where things are: what to do ([`Spec`], checked in `check.rs`), the folder and its races (`folder.rs`, `look.rs`, `durable.rs`), the supervisor
//! (`supervise.rs`, `launch.rs`, `reap.rs`, `sweep.rs`), the log (`log.rs`), calls (`calls.rs`, `calls/`), values that commands are
//! told and set (`value.rs`, `output.rs`), the way in ([`Runner`]).

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
mod live;
mod log;
mod look;
mod options;
mod output;
mod reap;
mod resolve;
mod runner;
mod secret;
mod spec;
mod supervise;
mod sweep;
mod tls;
mod value;

pub use callback::CallBack;
pub use end::{End, Reason};
pub use error::{Error, Result};
pub use id::RunId;
pub use log::Piece;
pub use look::Looked;
pub use options::{Options, Verb};
pub use runner::{Handle, Runner};
pub use secret::Secret;
pub use spec::{Chunk, Command, Done, Grpc, Http, Line, Poll, Spec, Tls, Told, What};
pub use supervise::supervise;
pub use value::{Value, Values, variable};
