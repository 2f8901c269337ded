use std::path::PathBuf;

/// Why stages cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An invalid or duplicate stage id, no stage, an empty token.
    #[error("{0}")]
    Setup(String),
    /// The address is in use or not local.
    #[error("cannot listen on {address}: {why}")]
    Listen { address: String, why: std::io::Error },
    /// A TLS file cannot be read or is invalid.
    #[error("{file}: {why}")]
    Tls { file: PathBuf, why: String },
}
