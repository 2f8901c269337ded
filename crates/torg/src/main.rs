//! The Torg binary.
fn main() {}
