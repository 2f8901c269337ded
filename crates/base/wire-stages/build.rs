//! Compiles the proto files that an outside stage needs.

fn main() -> anyhow::Result<()> {
    wire_gen::Output { files: wire_gen::STAGE_FILES, ..Default::default() }.generate()
}
