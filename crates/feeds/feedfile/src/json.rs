//! JSON: cutting a stream into offers, and objects whose values know their places.

mod object;
mod split;

pub(crate) use object::{Object, Value};
pub(crate) use split::{sniff, split};
