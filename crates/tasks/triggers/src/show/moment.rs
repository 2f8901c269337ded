//! Moments and values.

use std::fmt::{self, Display};

use jiff::Timestamp;

use super::Shown;
use crate::value::Value;

impl Display for Shown<'_, Timestamp> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.calendar.zone();
        let shown = zone.to_datetime(*self.what);
        write!(out, "{} {:02}:{:02}", shown.date(), shown.hour(), shown.minute())?;
        let (second, millis) = (shown.second(), shown.subsec_nanosecond() / 1_000_000);
        if millis > 0 {
            write!(out, ":{second:02}.{millis:03}")?;
        } else if second > 0 {
            write!(out, ":{second:02}")?;
        }
        if zone.to_ambiguous_timestamp(shown).is_ambiguous() {
            write!(out, "{}", zone.to_offset(*self.what))?;
        }
        Ok(())
    }
}

impl Display for Shown<'_, Value> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Value::Time(time) => self.calendar.show(time).fmt(out),
            Value::Number(number) => number.fmt(out),
        }
    }
}
