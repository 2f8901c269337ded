//! Actions in the console, by roles that may do them and by roles that may not.

mod feeds;
mod offers;
mod refused;
mod stages;
mod tasks;
mod upload;
