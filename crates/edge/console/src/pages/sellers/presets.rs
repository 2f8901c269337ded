//! The preset lists of a cabinet.

use wire::torg::offers::v1::Preset;

use crate::language::w;

/// Preset, name in addresses, text.
pub(super) const PRESETS: [(Preset, &str, &str); 7] = [
    (Preset::PRESET_ALL, "", w("All but removed and archived")),
    (Preset::PRESET_ACTIVE, "active", w("Active")),
    (Preset::PRESET_NEEDS_ATTENTION, "attention", w("Need attention")),
    (Preset::PRESET_EXPIRED, "expired", w("Expired")),
    (Preset::PRESET_BANNED, "banned", w("Banned")),
    (Preset::PRESET_SOLD, "sold", w("Sold")),
    (Preset::PRESET_ARCHIVED, "archived", w("Archived")),
];

/// Unknown names mean all.
pub(super) fn of_name(name: &str) -> Preset {
    PRESETS.iter().find(|(_, known, _)| *known == name).map_or(Preset::PRESET_ALL, |(preset, ..)| *preset)
}
