//! The tables of values, sharded by namespace and entity.

use store::{Table, TableDef};

pub(super) type Columns = (u32, String, String, String);

/// Values: `CtlValue` of `proto/torg/tasks/v1/ctl.proto`. Deleted ones remain, without a value.
pub(super) static VALUES: Table<Columns> =
    Table::versioned("ctl_values", &["shard", "namespace", "entity", "parameter"]);

/// Changes by the resulting version: `CtlHistory`.
pub(super) static HISTORY: Table<(u32, String, String, String, i64)> =
    Table::plain("ctl_history", &["shard", "namespace", "entity", "parameter", "change"]);

/// Parameters that changed since a consumer read them: `CtlChanged`. A mark has the version of its
/// value.
pub(super) static CHANGED: Table<Columns> =
    Table::versioned("ctl_changed", &["shard", "namespace", "entity", "parameter"]);

#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![VALUES.def(), HISTORY.def(), CHANGED.def()]
}
