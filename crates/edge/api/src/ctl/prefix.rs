//! Prefixes of parameter names.

use std::str::FromStr as _;

use ctl::{Ctl, Current, Prefix};
use triggers::Parameter;

use crate::errors::Refusal;
use crate::limits::VALUES_PORTION;

/// The default namespace.
const DEFAULT: &str = "default/";

/// A prefix, also across the dot: `sales.lo` covers `sales.loaded_to` and everything in
/// `sales.local`.
#[derive(Clone, Debug)]
pub(super) struct NamePrefix {
    /// The prefix for the store, which knows only whole entities.
    prefix: Prefix,
    /// The whole prefix with its namespace; empty for all.
    whole: String,
    /// Whether the store's prefix is the whole prefix.
    exact: bool,
}

impl NamePrefix {
    /// Parses the prefix in this field.
    pub(super) fn of(field: &str, text: &str) -> Result<Self, Refusal> {
        let wrong = |error: ctl::Error| Refusal::wrong_field(field, "WRONG_NAME", error.to_string());
        let mut prefix = Prefix::from_str(text).map_err(wrong)?;
        let dot = prefix.entity.rfind('.');
        prefix.entity.truncate(dot.unwrap_or(prefix.entity.len()));
        let whole = match text {
            "" => String::new(),
            text if text.contains('/') => text.to_owned(),
            text => format!("{DEFAULT}{text}"),
        };
        Ok(Self { prefix, whole, exact: dot.is_none() })
    }

    fn holds(&self, parameter: &Parameter) -> bool {
        // The name after the dot may contain `/`, too.
        let namespace = if parameter.entity.contains('/') { "" } else { DEFAULT };
        self.whole.is_empty() || format!("{namespace}{parameter}").starts_with(&self.whole)
    }

    /// Up to `limit` values after one of them, in order. Fewer means the end.
    pub(super) async fn values(
        &self,
        ctl: &Ctl,
        after: Option<Parameter>,
        limit: usize,
    ) -> Result<Vec<(Parameter, Current)>, Refusal> {
        let (mut found, mut after) = (Vec::new(), after);
        // Matches may be rare.
        let step = if self.exact { limit.min(VALUES_PORTION) } else { VALUES_PORTION };
        loop {
            let page = ctl.list(&self.prefix, after.as_ref(), step).await?;
            let last = page.len() < step;
            after = page.last().map(|(parameter, _)| parameter.clone());
            found.extend(page.into_iter().filter(|(parameter, _)| self.holds(parameter)));
            if last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_goes_across_the_dot_and_stays_in_its_namespace() {
        let names = ["sales.loaded_to", "sales.rows", "sales.local.a/b", "salt.rows", "dwh/sales.rows"];
        for (text, expected) in [
            ("", &names[..]),
            ("sal", &names[..4]),
            ("sales", &names[..3]),
            ("default/sales", &names[..3]),
            ("sales.lo", &["sales.loaded_to", "sales.local.a/b"]),
            ("sales.rows", &["sales.rows"]),
            ("dwh/", &names[4..]),
            ("dwh/sales.", &names[4..]),
            ("dwh/t", &[]),
            ("dwh", &[]),
        ] {
            let prefix = NamePrefix::of("prefix", text).unwrap();
            let held = names.iter().filter(|name| prefix.holds(&name.parse().unwrap()));
            assert_eq!(held.copied().collect::<Vec<_>>(), expected, "{text}");
        }
        for wrong in ["/x", "a b", "a=1", &"a".repeat(1000)] {
            let refusal = NamePrefix::of("prefix", wrong).unwrap_err();
            assert_eq!((refusal.reason(), &*refusal.fields()[0].field), ("WRONG_NAME", "prefix"));
        }
    }
}
