//! Tests of simulations, deployments and the example of a warehouse.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod deploy;
mod simulate;
mod warehouse;
