//! Compiles the messages that rows hold, without `protoc`.

use std::path::{Path, PathBuf};

use prost::Message as _;

const FILES: &[&str] = &["torg/watcher/v1/rows.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Asked when it runs: a build cache may be shared by several checkouts.
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../../proto");
    for file in FILES {
        println!("cargo:rerun-if-changed={}", root.join(file).display());
    }
    let descriptors = PathBuf::from(std::env::var("OUT_DIR")?).join("descriptors.bin");
    write(&descriptors, protox::compile(FILES, [&root])?.encode_to_vec())?;
    buffa_build::Config::new()
        .descriptor_set(&descriptors)
        .files(FILES)
        .generate_views(false)
        .include_file("rows.rs")
        .compile()?;
    Ok(())
}

/// Writes a file that looks as old as time: the generator asks cargo to watch it, and a file that
/// is younger than the run of this script would have everything built again every time.
fn write(path: &Path, bytes: Vec<u8>) -> std::io::Result<()> {
    std::fs::write(path, bytes)?;
    std::fs::File::options().write(true).open(path)?.set_modified(std::time::UNIX_EPOCH)
}
