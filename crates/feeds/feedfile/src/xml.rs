//! XML as sellers' programs write it: splitting by tokens, repair, and a small tree for each offer.

mod build;
mod pass;
mod repair;
mod root;
mod scan;
mod split;
mod tree;

pub(crate) use repair::{Repaired, repair};
pub(crate) use root::root_name;
pub(crate) use split::{Dialect, Splitter, Versioned};
pub(crate) use tree::{Attribute, Element, Tree};

/// A name without its prefix.
pub(crate) fn local(name: &str) -> &str {
    memchr::memchr(b':', name.as_bytes()).map_or(name, |colon| &name[colon + 1..])
}
