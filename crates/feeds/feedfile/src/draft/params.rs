//! Parameters of an offer.

use super::{Draft, Spot};
use crate::Code;
use crate::limits::{PARAM_NAME_CHARS_MAX, PARAM_VALUE_CHARS_MAX, PARAMS_MAX};
use crate::model::Param;

impl Draft<'_> {
    /// A parameter that the seller has named.
    pub(crate) fn param(&mut self, name: &str, unit: &str, spot: Spot<'_>) {
        self.any_param(name, unit, spot, true);
    }

    /// A field of the format that describes the item.
    pub(crate) fn field_as_param(&mut self, name: &str, unit: &str, spot: Spot<'_>) {
        self.any_param(name, unit, spot, false);
    }

    fn any_param(&mut self, name: &str, unit: &str, spot: Spot<'_>, is_own: bool) {
        let name = name.trim();
        if spot.value.is_empty() || name.is_empty() {
            return;
        }
        if self.offer.params.len() >= PARAMS_MAX {
            if !self.problems.iter().any(|known| known.code == Code::TooMany) {
                self.warn(Code::TooMany, spot, format!("more than {PARAMS_MAX} parameters"));
            }
            return;
        }
        let value = self.fit(spot, PARAM_VALUE_CHARS_MAX);
        let name = self.fit(Spot { value: name, ..spot }, PARAM_NAME_CHARS_MAX);
        let unit = self.fit(Spot { value: unit.trim(), ..spot }, PARAM_NAME_CHARS_MAX);
        let at = self.position(spot.offset);
        self.offer.params.push(Param { name, value, unit, at, is_own });
    }
}
