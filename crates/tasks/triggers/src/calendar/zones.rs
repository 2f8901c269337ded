//! Time zones by name. The database is compiled in, so that every machine knows the same zones and
//! changes.

use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::error::{Error, Result};

/// The zone of an IANA name such as `Europe/Moscow`, ignoring case.
pub fn find_zone(name: &str) -> Result<TimeZone> {
    database().get(name).map_err(|_| Error::UnknownZone { name: name.chars().take(64).collect() })
}

/// The names of all zones, sorted, for suggestions.
pub fn zone_names() -> impl Iterator<Item = &'static str> {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let read = || {
        let mut names: Vec<String> = database().available().map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        names
    };
    NAMES.get_or_init(read).iter().map(String::as_str)
}

fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}
