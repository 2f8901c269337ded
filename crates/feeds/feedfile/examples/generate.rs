//! Writes a large feed: `generate xml|yml MEGABYTES [SEED] > file`.

use feedfile::generate::{Kind, generate};
use std::io::{BufWriter, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = match arguments.first().map(String::as_str) {
        Some("xml") => Kind::OwnXml,
        Some("yml") => Kind::Yml,
        _ => return usage(),
    };
    let Some(megabytes) = arguments.get(1).and_then(|number| number.parse::<u64>().ok()) else {
        return usage();
    };
    let seed = arguments.get(2).and_then(|number| number.parse().ok()).unwrap_or(1);
    match generate(kind, seed, megabytes * 1_000_000, BufWriter::new(stdout().lock())) {
        Ok(offers) => eprintln!("{offers} offers"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("generate xml|yml MEGABYTES [SEED] > file");
    ExitCode::from(2)
}
