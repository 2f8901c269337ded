//! HTTP and RPC on one port.
//!
//! - `listen`: sockets, TLS, connections, draining;
//! - `router`: which path goes where, behind the gate (`access`);
//! - `feeds`: files of feeds that come in, and reports about them as files;
//! - `rpc`: the RPC services and what surrounds every call.

mod feeds;
mod listen;
mod router;
mod rpc;
mod runs;

pub use feeds::FeedFiles;
pub use listen::{Server, bind};
pub(crate) const ENDS_PATH: &str = "/tasks/runs/{run}/end";

pub use router::{Front, Slots, router};
pub use rpc::{DESCRIPTORS, Info, RpcParts, key_from_wire, message_from_wire, message_to_wire, rpc_service};
