//! The limits of outside stages.

use std::time::Duration;

/// Bytes of a stage's id.
pub const ID_BYTES_MAX: usize = 64;
/// Addresses of one stage.
pub const ENDPOINTS_MAX: usize = 64;
/// Bytes of an address.
pub const ADDRESS_BYTES_MAX: usize = 1024;
/// Bytes of a token.
pub const TOKEN_BYTES_MAX: usize = 8192;
/// Bytes of certificates and keys.
pub const PEM_BYTES_MAX: usize = 256 << 10;
/// How long a call may take, if nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time that may be said.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(300);
/// How much longer than the call the watcher waits, so that it hears why.
pub const GRACE: Duration = Duration::from_millis(500);
/// How long a stage may take to describe itself.
pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of offers and states in one request: a stock gRPC server takes 4 MiB. One offer that is larger goes alone.
pub const REQUEST_BYTES_MAX: usize = 3 << 20;
/// Bytes of one answer.
pub const RESPONSE_BYTES_MAX: usize = 16 << 20;
/// Failures in a row after which an endpoint is taken out.
pub const FAILURES_MAX: u32 = 3;
/// The first pause before an endpoint that was taken out is probed; it doubles.
pub const PROBE_PAUSE: Duration = Duration::from_millis(500);
/// The longest such pause.
pub const PROBE_PAUSE_MAX: Duration = Duration::from_secs(15);
/// Bytes of what a stage says about a failure that are kept.
pub const MESSAGE_BYTES_MAX: usize = 1024;
/// Calls of one endpoint that wait for its connection.
pub const WAITING_MAX: usize = 1024;
/// Differences of a shadow that are kept as examples.
pub const SHADOW_EXAMPLES_MAX: usize = 20;
/// Calls of a shadow at the same time; what comes meanwhile is not compared.
pub const SHADOW_CALLS_MAX: usize = 4;
/// Outside stages that a store may know.
pub const STAGES_MAX: usize = 200;
