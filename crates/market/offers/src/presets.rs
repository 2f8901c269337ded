//! Presets: the predefined lists of a seller's cabinet.

use wire::torg::offers::v1::{Preset, Status};

/// The presets that contain offers of a status.
#[must_use]
pub fn presets_of(status: Status) -> &'static [Preset] {
    match status {
        Status::STATUS_ACTIVE => &[Preset::All, Preset::Active],
        Status::STATUS_EXPIRED => &[Preset::All, Preset::Expired, Preset::NeedsAttention],
        Status::STATUS_BANNED => &[Preset::All, Preset::Banned, Preset::NeedsAttention],
        Status::STATUS_SOLD => &[Preset::All, Preset::Sold],
        Status::STATUS_ARCHIVED => &[Preset::Archived],
        Status::STATUS_REMOVED | Status::STATUS_UNSPECIFIED => &[],
    }
}

/// The preset whose rows have the cards of this one's offers: an offer has one card.
pub(crate) fn with_cards(preset: Preset) -> Preset {
    if preset == Preset::Archived { Preset::Archived } else { Preset::All }
}

/// In keys; also the name of the counter.
#[must_use]
pub fn name(preset: Preset) -> &'static str {
    match preset {
        Preset::PRESET_UNSPECIFIED => "unspecified",
        Preset::PRESET_ALL => "all",
        Preset::PRESET_ACTIVE => "active",
        Preset::PRESET_EXPIRED => "expired",
        Preset::PRESET_BANNED => "banned",
        Preset::PRESET_SOLD => "sold_now",
        Preset::PRESET_ARCHIVED => "archived",
        Preset::PRESET_NEEDS_ATTENTION => "needs_attention",
    }
}

pub const ALL: [Preset; 7] = [
    Preset::All,
    Preset::Active,
    Preset::Expired,
    Preset::Banned,
    Preset::Sold,
    Preset::Archived,
    Preset::NeedsAttention,
];
