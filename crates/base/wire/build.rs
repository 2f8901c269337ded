//! Compiles `proto/` to Rust, without `protoc`.

use std::path::{Path, PathBuf};

use buffa_codegen::{CodeGenConfig, MapRepr};
use prost::Message as _;

/// Files that become Rust code.
const FILES: &[&str] = &[
    "torg/offers/v1/offer.proto",
    "torg/offers/v1/offers.proto",
    "torg/offers/v1/drafts.proto",
    "torg/offers/v1/cabinet.proto",
    "torg/offers/v1/moderation.proto",
    "torg/offers/v1/rows.proto",
    "torg/catalog/v1/catalog.proto",
    "torg/stages/v1/stage.proto",
    "torg/stages/v1/state.proto",
    "torg/stages/v1/admin.proto",
    "torg/stages/v1/rows.proto",
    "torg/feeds/v1/problem.proto",
    "torg/feeds/v1/autoload.proto",
    "torg/feeds/v1/load.proto",
    "torg/feeds/v1/feed.proto",
    "torg/feeds/v1/service.proto",
    "torg/feeds/v1/rows.proto",
    "torg/tasks/v1/value.proto",
    "torg/tasks/v1/runner.proto",
    "torg/tasks/v1/ctl.proto",
    "torg/tasks/v1/task.proto",
    "torg/tasks/v1/tasks.proto",
    "torg/tasks/v1/ctl_service.proto",
    "torg/access/v1/keys.proto",
    "torg/admin/v1/admin.proto",
    "torg/admin/v1/observe.proto",
    "torg/topics/v1/topics.proto",
    "google/rpc/error_details.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Asked when it runs: a build cache may be shared by several checkouts.
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../../proto");
    println!("cargo:rerun-if-changed={}", root.display());
    let descriptors = PathBuf::from(std::env::var("OUT_DIR")?).join("descriptors.bin");
    write(&descriptors, protox::compile(FILES, [&root])?.encode_to_vec())?;
    // Maps in order: what is stored must not depend on chance.
    let mut messages = CodeGenConfig::default();
    messages.generate_json = true;
    messages.map_fields.push((".".to_owned(), MapRepr::BTreeMap));
    connectrpc_build::Config::new()
        .buffa_config(messages)
        .descriptor_set(&descriptors)
        .files(FILES)
        .include_file("_connectrpc.rs")
        .compile()?;
    Ok(())
}

/// Writes a file that looks as old as time: the generator asks cargo to watch it, and a file that is younger than the run of this script would have everything
/// built again every time.
fn write(path: &Path, bytes: Vec<u8>) -> std::io::Result<()> {
    std::fs::write(path, bytes)?;
    std::fs::File::options().write(true).open(path)?.set_modified(std::time::UNIX_EPOCH)
}
