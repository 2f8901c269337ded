//! Photos.
