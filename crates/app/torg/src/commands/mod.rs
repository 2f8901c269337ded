//! Commands that do one thing and end: one file each. How they look is in `show`.

pub(crate) mod catalog;
pub(crate) mod completions;
pub(crate) mod ctl;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod feed;
pub(crate) mod keys;
mod owner;
mod remote;
pub(crate) mod show;
pub(crate) mod stages;
mod stages_new;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod topic;
mod topic_server;

pub(crate) use self::remote::own_url;
use self::show::print;
