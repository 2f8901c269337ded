//! HTTP and RPC on one port.
//!
//! - `listen`: sockets, TLS, connections, draining;
//! - `router`: which path goes where, behind the gate (`access`);
//! - `feeds`: files of feeds that come in, and reports about them as files;
//! - `health`: `/healthz`, `/readyz` and gRPC's health service, over one list of readiness checks;
//! - `metrics`: `/metrics`;
//! - `rpc`: the RPC services and what surrounds every call.

mod feeds;
mod health;
mod listen;
mod metrics;
mod router;
mod rpc;
mod runs;

pub(crate) use feeds::FeedFiles;
pub(crate) use health::Readiness;
pub(crate) use listen::{Server, bind};
pub(crate) use metrics::{Metrics, Usage};
pub(crate) use router::{Front, Slots, router};
pub(crate) use rpc::{Info, RpcParts, key_from_wire, message_from_wire, message_to_wire, rpc_service};
