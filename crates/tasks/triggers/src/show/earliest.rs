//! What a task waits for.

use std::fmt::{self, Display};

use super::Shown;
use super::trigger::join;
use crate::earliest::{Earliest, Wait};
use crate::verdict::Operand;

impl Display for Shown<'_, Earliest> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Earliest::Now => out.write_str("now"),
            Earliest::At(moment) => write!(out, "at {}, by the time alone", self.calendar.show(moment)),
            Earliest::When(wait) => write!(out, "when {}", self.calendar.show(wait)),
            Earliest::Never(wait) => write!(out, "never, until it is fixed: {}", self.calendar.show(wait)),
        }
    }
}

impl Display for Shown<'_, Wait> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calendar = self.calendar;
        match self.what {
            Wait::Reach { parameter, value, rising } => {
                write!(out, "{parameter} reaches {}", calendar.show(value))?;
                out.write_str(if *rising { " (this rises with the time)" } else { "" })
            }
            Wait::Value(parameter) => write!(out, "{parameter} gets a value"),
            Wait::Until(moment) => write!(out, "it is {}", calendar.show(moment)),
            Wait::Fix { parameter, operand: Operand::Remembered, needed } => {
                write!(out, "what is remembered of {parameter} is not {needed}")
            }
            Wait::Fix { parameter, needed, .. } => write!(out, "the value of {parameter} is not {needed}"),
            Wait::Beyond(parameter) => {
                write!(out, "{parameter} would have to reach what no value can be")
            }
            Wait::Of(how, waits) => join(out, waits, *how, |out, wait| match wait {
                Wait::Of(..) => write!(out, "({})", calendar.show(wait)),
                _ => calendar.show(wait).fmt(out),
            }),
        }
    }
}
