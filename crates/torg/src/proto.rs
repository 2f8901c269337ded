//! The public contract, generated from `proto/`.

#![allow(missing_docs, unreachable_pub, dead_code, clippy::all, clippy::pedantic, reason = "generated")]

connectrpc::include_generated!();
