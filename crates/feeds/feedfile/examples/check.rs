//! Checks a file as `torg feed check` does. With `--time`, prints MB/s and the peak of memory instead of the problems.

#![allow(clippy::disallowed_methods, reason = "this program measures time")]

use feedfile::{Language, Options, check};
use std::fs::File;
use std::time::Instant;

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != name);
        arguments.len() < before
    };
    let (timed, as_json) = (flag("--time"), flag("--json"));
    for path in &arguments {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("{path}: {error}");
                continue;
            }
        };
        let start = Instant::now();
        let report = check(file, Options::default(), &mut ());
        let seconds = start.elapsed().as_secs_f64();
        if as_json {
            println!("{}", report.to_json());
        } else if timed {
            let megabytes = report.summary.bytes as f64 / 1e6;
            let summary = &report.summary;
            println!(
                "{path}: {} offers, {} rejected, {megabytes:.0} MB in {seconds:.2} s: {:.0} MB/s, peak {} MB",
                summary.offers,
                summary.rejected,
                megabytes / seconds,
                peak_rss_mb()
            );
        } else {
            print!("{}", report.render(path, Language::English));
        }
    }
}

/// The most memory that this process has held, from Linux.
fn peak_rss_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
