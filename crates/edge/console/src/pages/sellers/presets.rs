//! The ready lists of a cabinet.

use wire::torg::offers::v1::Preset;

use crate::words_mark::w;

/// Each with its name in an address, and what it is called.
pub(super) const PRESETS: [(Preset, &str, &str); 7] = [
    (Preset::PRESET_ALL, "", w("All but removed and archived")),
    (Preset::PRESET_ACTIVE, "active", w("Active")),
    (Preset::PRESET_NEEDS_ATTENTION, "attention", w("Need attention")),
    (Preset::PRESET_EXPIRED, "expired", w("Expired")),
    (Preset::PRESET_BANNED, "banned", w("Banned")),
    (Preset::PRESET_SOLD, "sold", w("Sold")),
    (Preset::PRESET_ARCHIVED, "archived", w("Archived")),
];

/// The list of this name; all, if there is none.
pub(super) fn of_name(name: &str) -> Preset {
    PRESETS.iter().find(|(_, known, _)| *known == name).map_or(Preset::PRESET_ALL, |(preset, ..)| *preset)
}
