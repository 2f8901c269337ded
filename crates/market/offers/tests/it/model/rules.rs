//! What the model knows of statuses: written down once more, on purpose, and not taken from the
//! code that is tested.

use wire::torg::offers::v1::{Preset, Status};

/// Who changes offers in these runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Seller,
    Stage,
    Moderation,
    Archive,
}

impl Who {
    /// By the word that the topic has for them.
    pub(crate) fn named(word: &str) -> Self {
        match word {
            "seller" => Self::Seller,
            "stage" => Self::Stage,
            "moderation" => Self::Moderation,
            "archive" => Self::Archive,
            _ => panic!("no author of this run is a {word:?}"),
        }
    }
}

/// The moves that those may make who take part, and no others.
pub(crate) fn may_move(who: Who, from: Status, to: Status) -> bool {
    use Status::{
        STATUS_ACTIVE as ACTIVE, STATUS_ARCHIVED as ARCHIVED, STATUS_BANNED as BANNED,
        STATUS_EXPIRED as EXPIRED, STATUS_REMOVED as REMOVED, STATUS_SOLD as SOLD,
    };
    match who {
        Who::Seller => matches!(
            (from, to),
            (ACTIVE, SOLD | REMOVED)
                | (EXPIRED, ACTIVE | SOLD | REMOVED)
                | (SOLD, ACTIVE | REMOVED)
                | (REMOVED, ACTIVE)
                | (BANNED, REMOVED)
        ),
        Who::Stage => (from, to) == (ACTIVE, EXPIRED),
        Who::Moderation => matches!(
            (from, to),
            (ACTIVE | EXPIRED | SOLD | REMOVED, BANNED) | (BANNED, ACTIVE | EXPIRED | SOLD | REMOVED)
        ),
        // Everything else stays in the active tables for longer than a run takes.
        Who::Archive => (from, to) == (REMOVED, ARCHIVED),
    }
}

/// The lists of a seller, with the names of their counts.
pub(crate) const LISTS: [(Preset, &str); 7] = [
    (Preset::All, "all"),
    (Preset::Active, "active"),
    (Preset::Expired, "expired"),
    (Preset::Banned, "banned"),
    (Preset::Sold, "sold_now"),
    (Preset::Archived, "archived"),
    (Preset::NeedsAttention, "needs_attention"),
];

/// Whether offers of a status stand in a list.
pub(crate) fn is_listed(preset: Preset, status: Status) -> bool {
    use Status::{
        STATUS_ACTIVE as ACTIVE, STATUS_ARCHIVED as ARCHIVED, STATUS_BANNED as BANNED,
        STATUS_EXPIRED as EXPIRED, STATUS_SOLD as SOLD,
    };
    match preset {
        Preset::PRESET_ALL => matches!(status, ACTIVE | EXPIRED | BANNED | SOLD),
        Preset::PRESET_ACTIVE => status == ACTIVE,
        Preset::PRESET_EXPIRED => status == EXPIRED,
        Preset::PRESET_BANNED => status == BANNED,
        Preset::PRESET_SOLD => status == SOLD,
        Preset::PRESET_ARCHIVED => status == ARCHIVED,
        Preset::PRESET_NEEDS_ATTENTION => matches!(status, EXPIRED | BANNED),
        Preset::PRESET_UNSPECIFIED => false,
    }
}
