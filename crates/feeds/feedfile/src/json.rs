//! JSON: splits a stream into offers, and parses objects whose values have offsets.

mod object;
mod split;

pub(crate) use object::{Object, Value};
pub(crate) use split::{sniff, split};
