//! Sets of fields, by their paths: `price`, `seller.phone`.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::FIELDS_MAX;

/// A set of fields of an entity, or all of them.
///
/// A path names a field and everything inside it: `seller` covers `seller.phone`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    paths: BTreeSet<String>,
    all: bool,
}

impl Fields {
    #[must_use]
    pub const fn none() -> Self {
        Self { paths: BTreeSet::new(), all: false }
    }

    #[must_use]
    pub const fn all() -> Self {
        Self { paths: BTreeSet::new(), all: true }
    }

    pub fn of<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut fields = Self::none();
        fields.extend(paths);
        fields
    }

    /// Adds fields. A set of too many becomes the set of all: that asks too much, never too little.
    pub fn extend<P: Into<String>>(&mut self, paths: impl IntoIterator<Item = P>) {
        for path in paths {
            if self.all {
                return;
            }
            self.paths.insert(path.into());
            if self.paths.len() > FIELDS_MAX {
                *self = Self::all();
            }
        }
    }

    pub fn extend_from(&mut self, other: &Self) {
        if other.all {
            *self = Self::all();
        } else {
            self.extend(other.paths.iter().map(String::as_str));
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.all && self.paths.is_empty()
    }

    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// The paths; empty also for the set of all.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether a field is in both sets, or inside a field of the other.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        self.all || other.all || self.paths().any(|a| other.paths().any(|b| covers(a, b) || covers(b, a)))
    }

    /// Whether a change of this field belongs to the set.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        self.all || self.paths().any(|field| covers(field, path))
    }
}

fn covers(field: &str, path: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.all {
            return f.write_str("all fields");
        }
        for (n, path) in self.paths().enumerate() {
            write!(f, "{}{path}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_covers_what_is_inside_it_and_not_what_only_begins_like_it() {
        let seller = Fields::of(["seller"]);
        assert!(seller.overlaps(&Fields::of(["seller.phone"])));
        assert!(Fields::of(["seller.phone"]).overlaps(&seller));
        assert!(!seller.overlaps(&Fields::of(["seller_phone", "price"])));
        assert!(seller.covers("seller.phone") && !Fields::of(["seller.phone"]).covers("seller"));
    }

    #[test]
    fn all_overlaps_with_anything_but_nothing() {
        assert!(Fields::all().overlaps(&Fields::of(["price"])));
        assert!(Fields::all().overlaps(&Fields::all()));
        assert!(!Fields::all().overlaps(&Fields::none()));
        assert!(!Fields::of(["price"]).overlaps(&Fields::none()));
    }

    #[test]
    fn too_many_fields_become_all_of_them() {
        let many = Fields::of((0..=FIELDS_MAX).map(|n| format!("f{n}")));
        assert!(many.is_all());
        assert!(many.overlaps(&Fields::of(["something else"])));
        assert!(!Fields::of((0..FIELDS_MAX).map(|n| format!("f{n}"))).is_all());
    }
}
