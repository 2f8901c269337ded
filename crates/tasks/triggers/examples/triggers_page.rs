//! Prints the page `docs/triggers.md`.
#![allow(clippy::unwrap_used, reason = "the table is ours: what is wrong in it has to be seen")]
#![allow(dead_code, reason = "the tests look at more of the table than the page does")]

#[path = "../tests/it/table/mod.rs"]
mod table;

fn main() {
    print!("{}", table::page());
}
