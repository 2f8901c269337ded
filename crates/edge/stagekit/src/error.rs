use std::path::PathBuf;

/// Why stages are not served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An id that is not letters, digits, `-` and `_`, two stages with one id, no stage, an empty token.
    #[error("{0}")]
    Setup(String),
    /// The address is taken, or none of this machine.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// As it was given.
        address: String,
        /// What the system says.
        why: std::io::Error,
    },
    /// A file of TLS cannot be read, or holds something else.
    #[error("{file}: {why}")]
    Tls {
        /// Which one.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}
