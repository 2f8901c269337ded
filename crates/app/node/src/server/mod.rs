//! The HTTP and RPC server on one port.
//!
//! - `listen`: sockets, TLS, connections, draining;
//! - `router`: routes behind the gate (`access`);
//! - `feeds`: uploads of feeds, and reports as files;
//! - `runs`: callbacks at the end of runs;
//! - `rpc`: the RPC services and their interceptors.

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
