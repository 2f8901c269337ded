//! The rules of the planner, one by one.

mod backfill;
mod cost;
mod explain;
mod firing;
mod hold;
mod kit;
mod manual;
mod protocol;
mod queue;
mod retry;
mod watching;
