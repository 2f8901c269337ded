//! What people do in the console, as those who may and as those who may not.

mod feeds;
mod offers;
mod refused;
mod stages;
mod tasks;
mod upload;
