//! Outside stages: plug-ins in any language that change offers, called through gRPC (`proto/torg/stages/v1`).
//!
//! ```text
//! Outside       a stage as it was declared, checked         outside.rs
//! Endpoints     its addresses: balanced, taken out, probed  endpoints.rs, endpoint.rs, connect.rs
//! Plugin        what the watcher visits                     plugin.rs, requests.rs
//! Reader        its answers, believed only as far as they may go   answers.rs
//! Shadow        another version that is only compared       shadow.rs
//! Registry      the stages that a store knows               registry.rs
//! Workshop      the stages of this process, kept up to date workshop.rs
//! Counts        what waits for each, as it was counted last counts.rs
//! ```

mod answers;
mod connect;
mod counts;
mod endpoint;
mod endpoints;
pub mod limits;
mod outside;
mod plugin;
mod registry;
mod requests;
mod secured;
mod shadow;
mod workshop;

pub use answers::Allowed;
pub use endpoint::{Silence, Standing};
pub use outside::{Outside, Wrong};
pub use plugin::{Described, Plugin};
pub use registry::{Known, Origin, Registry, RegistryError, tables};
pub use requests::{state_of, state_to};
pub use shadow::{Compared, Example};
pub use workshop::{BuiltIn, Workbench, Workshop};
