//! Describes the services of `proto/` for reflection, without `protoc`.

use std::path::{Path, PathBuf};

use prost::Message as _;

/// Files with services, and what errors carry.
const DESCRIBED: &[&str] = &[
    "torg/access/v1/keys.proto",
    "torg/admin/v1/admin.proto",
    "torg/admin/v1/observe.proto",
    "torg/topics/v1/topics.proto",
    "grpc/health/v1/health.proto",
    "google/rpc/error_details.proto",
    "torg/offers/v1/offers.proto",
    "torg/offers/v1/drafts.proto",
    "torg/offers/v1/cabinet.proto",
    "torg/offers/v1/moderation.proto",
    "torg/catalog/v1/catalog.proto",
    "torg/stages/v1/admin.proto",
    "torg/stages/v1/state.proto",
    "torg/feeds/v1/service.proto",
    "torg/tasks/v1/ctl_service.proto",
    "torg/tasks/v1/tasks.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Asked when it runs: a build cache may be shared by several checkouts.
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../../proto");
    println!("cargo:rerun-if-changed={}", root.display());
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let set = protox::compile(DESCRIBED, [&root])?;
    write(&out.join("descriptors.bin"), set.encode_to_vec())?;
    Ok(())
}

/// Writes a file that looks as old as time: the generator asks cargo to watch it, and a file that is younger than the run of this script would have everything
/// built again every time.
fn write(path: &Path, bytes: Vec<u8>) -> std::io::Result<()> {
    std::fs::write(path, bytes)?;
    std::fs::File::options().write(true).open(path)?.set_modified(std::time::UNIX_EPOCH)
}
