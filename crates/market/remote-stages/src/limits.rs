//! The limits of remote stages.

use std::time::Duration;

pub const ID_BYTES_MAX: usize = 64;
pub const ENDPOINTS_MAX: usize = 64;
pub const ADDRESS_BYTES_MAX: usize = 1024;
pub const TOKEN_BYTES_MAX: usize = 8192;
/// All certificates and keys of a stage together.
pub const PEM_BYTES_MAX: usize = 256 << 10;
/// The default timeout of a call.
pub const TIMEOUT: Duration = Duration::from_secs(10);
pub const TIMEOUT_MAX: Duration = Duration::from_secs(300);
/// The watcher's timeout exceeds the call's by this much, so that the call's own error arrives.
pub const GRACE: Duration = Duration::from_millis(500);
pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(3);
/// Offers and states in one request: a gRPC server takes 4 MiB by default. A larger offer goes
/// alone.
pub const REQUEST_BYTES_MAX: usize = 3 << 20;
pub const RESPONSE_BYTES_MAX: usize = 16 << 20;
/// Consecutive failures that take an endpoint out of rotation.
pub const FAILURES_MAX: u32 = 3;
/// The first pause before a probe; it doubles up to the maximum.
pub const PROBE_PAUSE: Duration = Duration::from_millis(500);
pub const PROBE_PAUSE_MAX: Duration = Duration::from_secs(15);
/// Longer failure texts of stages are truncated.
pub const MESSAGE_BYTES_MAX: usize = 1024;
/// Calls queued for one endpoint's connection.
pub const WAITING_MAX: usize = 1024;
/// The last differences of a shadow that are kept.
pub const SHADOW_EXAMPLES_MAX: usize = 20;
/// Concurrent calls of a shadow; visits above it are not compared.
pub const SHADOW_CALLS_MAX: usize = 4;
pub const STAGES_MAX: usize = 200;
