//! Compiles `proto/` to Rust, except what `wire-stages` has.

use wire_gen::{Output, STAGE_FILES, write_descriptors};

/// Files that become Rust code here.
const FILES: &[&str] = &[
    "torg/offers/v1/offers.proto",
    "torg/offers/v1/drafts.proto",
    "torg/offers/v1/cabinet.proto",
    "torg/offers/v1/moderation.proto",
    "torg/offers/v1/rows.proto",
    "torg/catalog/v1/catalog.proto",
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

/// Files with the services that a Torg process serves, and with the details of errors.
const SERVED: &[&str] = &[
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

fn main() -> anyhow::Result<()> {
    Output { files: FILES, base: Some(("wire_stages", STAGE_FILES)) }.generate()?;
    write_descriptors("all.bin", &[STAGE_FILES, FILES].concat())?;
    write_descriptors("served.bin", SERVED)
}
