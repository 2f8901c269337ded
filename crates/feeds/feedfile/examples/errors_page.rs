//! Prints the page `docs/feed-errors.md`.

fn main() {
    print!("{}", feedfile::errors_page());
}
