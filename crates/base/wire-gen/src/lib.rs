//! Generates Rust code from `proto/`, for the build scripts of the wire crates.
//!
//! Messages come from buffa, without views: every handler and every caller works with owned
//! messages. The code of services is generated here (`services`), because the generator of
//! connectrpc requires views and instantiates its client once for each method.

mod services;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use buffa_codegen::generated::descriptor::{FileDescriptorProto, FileDescriptorSet};
use buffa_codegen::{CodeGenConfig, GeneratedFile, GeneratedFileKind, MapRepr};
use prost::Message as _;

/// What an outside stage needs: compiled in `wire-stages`, re-exported by `wire`.
pub const STAGE_FILES: &[&str] =
    &["torg/offers/v1/offer.proto", "torg/stages/v1/stage.proto", "torg/stages/v1/state.proto"];

/// What to generate into the build script's `OUT_DIR`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output<'a> {
    /// Proto files that become Rust code.
    pub files: &'a [&'a str],
    /// A crate that this one re-exports, and the proto files that are compiled there.
    pub base: Option<(&'a str, &'a [&'a str])>,
}

impl Output<'_> {
    /// Writes `wire.rs`, the module tree of all packages.
    pub fn generate(&self) -> anyhow::Result<()> {
        let base_files = self.base.map_or(&[][..], |(_, files)| files);
        let sources = [self.files, base_files].concat();
        let decode = buffa_codegen::tooling_decode_options().map_err(anyhow::Error::msg)?;
        let set: FileDescriptorSet = decode.decode_from_slice(&descriptors(&sources)?)?;
        let files: Vec<String> = self.files.iter().map(ToString::to_string).collect();
        let generated = buffa_codegen::generate(&set.file, &files, &self.config(&set.file))?;
        let mut packages: BTreeMap<String, Package> = BTreeMap::new();
        for file in generated {
            packages.entry(file.package.clone()).or_default().add(&file);
        }
        for file in &set.file {
            let package = || package_of(file).to_owned();
            if self.files.contains(&file.name.as_deref().unwrap_or_default()) {
                packages.entry(package()).or_default().messages.push_str(&services::generate(file)?);
            } else if self.is_in_base(file) {
                packages.entry(package()).or_default().base.insert(self.base_path(file));
            }
        }
        std::fs::write(out_dir()?.join("wire.rs"), tree(&packages))?;
        Ok(())
    }

    fn config(&self, files: &[FileDescriptorProto]) -> CodeGenConfig {
        let mut config = CodeGenConfig::default();
        config.generate_json = true;
        config.generate_views = false;
        config.emit_register_fn = false;
        // Maps in order: stored bytes must not depend on chance.
        config.map_fields.push((".".to_owned(), MapRepr::BTreeMap));
        // Type by type, because a package may be split between the crates.
        for file in files.iter().filter(|file| self.is_in_base(file)) {
            let messages = file.message_type.iter().map(|message| &message.name);
            for name in messages.chain(file.enum_type.iter().map(|kind| &kind.name)).flatten() {
                let full_name = format!(".{}.{name}", package_of(file));
                config.extern_paths.push((full_name, self.base_path(file) + "::" + name));
            }
        }
        config
    }

    fn is_in_base(&self, file: &FileDescriptorProto) -> bool {
        self.base.is_some_and(|(_, files)| files.contains(&file.name.as_deref().unwrap_or_default()))
    }

    fn base_path(&self, file: &FileDescriptorProto) -> String {
        let base = self.base.map_or("crate", |(base, _)| base);
        format!("::{base}::{}", package_of(file).replace('.', "::"))
    }
}

/// Writes the descriptors of these proto files, and of what they import, into `OUT_DIR`.
pub fn write_descriptors(name: &str, files: &[&str]) -> anyhow::Result<()> {
    Ok(std::fs::write(out_dir()?.join(name), descriptors(files)?)?)
}

fn descriptors(files: &[&str]) -> anyhow::Result<Vec<u8>> {
    // Read at run time: several checkouts may share a build cache.
    let manifest = std::env::var("CARGO_MANIFEST_DIR").context("not run by cargo")?;
    let manifest = PathBuf::from(manifest);
    let root = manifest.ancestors().map(|folder| folder.join("proto")).find(|folder| folder.is_dir());
    let root = root.context("no folder `proto` above the crate")?;
    println!("cargo:rerun-if-changed={}", root.display());
    Ok(protox::compile(files, [&root])?.encode_to_vec())
}

fn package_of(file: &FileDescriptorProto) -> &str {
    file.package.as_deref().unwrap_or_default()
}

fn out_dir() -> anyhow::Result<PathBuf> {
    Ok(Path::new(&std::env::var("OUT_DIR").context("not run by cargo")?).to_owned())
}

/// The code of one proto package.
#[derive(Default)]
struct Package {
    base: BTreeSet<String>,
    messages: String,
    oneofs: String,
}

impl Package {
    fn add(&mut self, file: &GeneratedFile) {
        match file.kind {
            GeneratedFileKind::Owned => self.messages.push_str(&file.content),
            GeneratedFileKind::Oneof => self.oneofs.push_str(&file.content),
            // The module tree is written by `tree`; other kinds are off.
            _ => {}
        }
    }

    fn write(&self, out: &mut String) {
        for base in &self.base {
            let _ = writeln!(out, "pub use {base}::*;");
        }
        out.push_str(&self.messages);
        out.push_str("pub mod __buffa { pub mod oneof {\n");
        for base in &self.base {
            let _ = writeln!(out, "pub use {base}::__buffa::oneof::*;");
        }
        out.push_str(&self.oneofs);
        out.push_str("} }\n");
    }
}

/// Nests the packages as modules: `torg.offers.v1` is `torg::offers::v1`.
fn tree(packages: &BTreeMap<String, Package>) -> String {
    let mut out = String::new();
    let mut open: Vec<&str> = Vec::new();
    for (name, package) in packages {
        let parts: Vec<&str> = name.split('.').collect();
        let common = open.iter().zip(&parts).take_while(|(one, other)| one == other).count();
        out.push_str(&"}\n".repeat(open.len() - common));
        for part in &parts[common..] {
            let _ = writeln!(out, "pub mod {part} {{");
        }
        package.write(&mut out);
        open = parts;
    }
    out.push_str(&"}\n".repeat(open.len()));
    out
}
