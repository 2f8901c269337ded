//! How the names of parameters begin that a request is about.

use std::str::FromStr as _;

use ctl::{Ctl, Current, Prefix};
use triggers::Parameter;

use crate::errors::Refusal;
use crate::limits::VALUES_PORTION;

/// The namespace of a name that has none.
const DEFAULT: &str = "default/";

/// The beginning of names, across the dot too: `sales.lo` is that of `sales.loaded_to`, and of everything of `sales.local`.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// What the store looks for: it knows the beginnings of entities.
    prefix: Prefix,
    /// With its namespace; empty for all.
    whole: String,
    /// Whether the store finds exactly those, and no others.
    exact: bool,
}

impl Beginning {
    /// The beginning that a request has in this field.
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
        // There may be a / in the name behind the dot too.
        let namespace = if parameter.entity.contains('/') { "" } else { DEFAULT };
        self.whole.is_empty() || format!("{namespace}{parameter}").starts_with(&self.whole)
    }

    /// The values behind one of them, at most so many, in their order. Fewer are the last ones.
    pub(super) async fn values(
        &self,
        ctl: &Ctl,
        after: Option<Parameter>,
        limit: usize,
    ) -> Result<Vec<(Parameter, Current)>, Refusal> {
        let (mut found, mut after) = (Vec::new(), after);
        // Among others they may be rare.
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
            let beginning = Beginning::of("prefix", text).unwrap();
            let held = names.iter().filter(|name| beginning.holds(&name.parse().unwrap()));
            assert_eq!(held.copied().collect::<Vec<_>>(), expected, "{text}");
        }
        for wrong in ["/x", "a b", "a=1", &"a".repeat(1000)] {
            let refusal = Beginning::of("prefix", wrong).unwrap_err();
            assert_eq!((refusal.reason(), &*refusal.fields()[0].field), ("WRONG_NAME", "prefix"));
        }
    }
}
