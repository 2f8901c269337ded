//! Roles and sets of roles.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A role of a caller; a caller may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A seller: own objects only.
    Seller,
    /// Support: reads everything, changes nothing.
    Support,
    /// Moderates offers.
    Moderator,
    /// A trusted program: reads everything, writes for sellers.
    Service,
    /// Operates the marketplace.
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [Self::Seller, Self::Support, Self::Moderator, Self::Service, Self::Admin];

    /// The name in tokens and configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seller => "seller",
            Self::Support => "support",
            Self::Moderator => "moderator",
            Self::Service => "service",
            Self::Admin => "admin",
        }
    }

    /// The role of that name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of roles. Serialised as a list of names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Role>", into = "Vec<Role>")]
pub struct Roles(u8);

impl Roles {
    /// The roles of an anonymous caller.
    pub const NONE: Self = Self(0);

    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    #[must_use]
    pub const fn with(self, role: Role) -> Self {
        Self(self.0 | (1 << role as u8))
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The roles, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.has(*role))
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        roles.into_iter().fold(Self::NONE, Self::with)
    }
}

impl From<Vec<Role>> for Roles {
    fn from(roles: Vec<Role>) -> Self {
        roles.into_iter().collect()
    }
}

impl From<Roles> for Vec<Role> {
    fn from(roles: Roles) -> Self {
        roles.iter().collect()
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it_and_survives_writing_down() {
        for bits in 0..1_u8 << Role::ALL.len() {
            let inside: Vec<Role> =
                Role::ALL.into_iter().filter(|role| bits & (1 << *role as u8) != 0).collect();
            let set: Roles = inside.iter().copied().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), inside);
            let written = serde_json::to_string(&set).unwrap();
            assert_eq!(serde_json::from_str::<Roles>(&written).unwrap(), set, "{written}");
        }
    }

    #[test]
    fn every_role_is_found_by_its_name_and_no_other_name_finds_one() {
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(role));
        }
        for wrong in ["", "Admin", "root", "admin "] {
            assert_eq!(Role::from_name(wrong), None, "{wrong:?}");
        }
    }
}
