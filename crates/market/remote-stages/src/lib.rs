//! Remote stages: services in any language that change offers, called through gRPC
//! (`proto/torg/stages/v1`).
//!
//! - `spec.rs`: a checked declaration of a stage
//! - `plugin.rs`, `requests.rs`, `answers.rs`: calls of a stage and checks of its answers
//! - `endpoints.rs`, `endpoint.rs`, `connect.rs`, `tls.rs`: its addresses and connections
//! - `shadow.rs`: another version of a stage that is only compared
//! - `stage_store.rs`: the stages that a store knows
//! - `registry.rs`: the stages of this process

mod answers;
mod connect;
mod counts;
mod endpoint;
mod endpoints;
pub mod limits;
mod plugin;
mod registry;
mod requests;
mod shadow;
mod spec;
mod stage_store;
mod tls;

pub use answers::Allowed;
pub use endpoint::{EndpointStatus, PingError};
pub use plugin::{Description, Plugin};
pub use registry::{BuiltIn, RemoteStage, StageRegistry};
pub use requests::{state_of, state_to};
pub use shadow::{ShadowExample, ShadowReport};
pub use spec::{SpecError, StageSpec};
pub use stage_store::{Origin, StageEntry, StageStore, StageStoreError, tables};
