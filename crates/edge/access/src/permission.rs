//! The permission table, and the rule that another owner's object looks missing.

use crate::caller::{Caller, Owner};
use crate::role::Role;

/// A kind of action. Every method of every service is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Reads public data: published offers, the catalogue.
    ReadPublic,
    /// Reads the caller's own objects.
    ReadOwn,
    /// Changes the caller's own objects.
    WriteOwn,
    /// Reads objects of every owner.
    ReadAny,
    /// Reads internals: explain, history.
    SeeInternals,
    /// Bans, rejects, approves.
    Moderate,
    /// Moves any offer to another status.
    ChangeAnyStatus,
    /// Changes objects in the name of a seller.
    WriteForSeller,
    /// Reads the state of the process and its figures.
    SeeProcess,
    /// Reads and writes topics, which contain messages of all sellers.
    UseTopics,
    /// Reads and writes the private states of stages.
    UseStates,
    /// Manages API keys, stages, tasks and settings.
    Administer,
}

const Y: bool = true;
const N: bool = false;

/// The columns are the anonymous caller, then [`Role::ALL`].
#[rustfmt::skip]
const TABLE: [(Action, [bool; 6]); 12] = [
    //                        anonymous  seller  support  moderator  service  admin
    (Action::ReadPublic,      [Y,        Y,      Y,       Y,         Y,       Y]),
    (Action::ReadOwn,         [Y,        Y,      N,       N,         N,       N]),
    (Action::WriteOwn,        [Y,        Y,      N,       N,         N,       N]),
    (Action::ReadAny,         [N,        N,      Y,       Y,         Y,       Y]),
    (Action::SeeInternals,    [N,        N,      Y,       Y,         N,       Y]),
    (Action::Moderate,        [N,        N,      N,       Y,         N,       Y]),
    (Action::ChangeAnyStatus, [N,        N,      N,       Y,         N,       Y]),
    (Action::WriteForSeller,  [N,        N,      N,       N,         Y,       Y]),
    (Action::SeeProcess,      [N,        N,      Y,       Y,         Y,       Y]),
    (Action::UseTopics,       [N,        N,      N,       N,         Y,       Y]),
    (Action::UseStates,       [N,        N,      N,       N,         Y,       Y]),
    (Action::Administer,      [N,        N,      N,       N,         N,       Y]),
];

impl Action {
    /// All actions.
    pub const ALL: [Self; 12] = [
        Self::ReadPublic,
        Self::ReadOwn,
        Self::WriteOwn,
        Self::ReadAny,
        Self::SeeInternals,
        Self::Moderate,
        Self::ChangeAnyStatus,
        Self::WriteForSeller,
        Self::SeeProcess,
        Self::UseTopics,
        Self::UseStates,
        Self::Administer,
    ];

    /// Whether this role may; `None` is the anonymous caller. Own objects also require ownership.
    #[must_use]
    pub fn is_open_to(self, role: Option<Role>) -> bool {
        let column = role.map_or(0, |role| role as usize + 1);
        TABLE.iter().any(|(action, columns)| *action == self && columns[column])
    }
}

/// The answer to a permission check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    Allowed,
    /// No, and the caller must not learn that the object exists.
    Missing,
    /// No: the roles do not allow it.
    Forbidden,
    /// No: the caller must sign in first.
    SignIn,
}

impl Caller {
    /// Whether one of the caller's roles allows the action. A known caller has own objects only as
    /// a seller.
    #[must_use]
    pub fn may(&self, action: Action) -> bool {
        let own = matches!(action, Action::ReadOwn | Action::WriteOwn);
        let as_anybody = action.is_open_to(None) && (!own || self.anonymous.is_some());
        as_anybody || self.roles.iter().any(|role| action.is_open_to(Some(role)))
    }

    /// Judges an action without an owner.
    pub fn judge(&self, action: Action) -> Verdict {
        if self.may(action) { Verdict::Allowed } else { self.refused() }
    }

    /// Judges reading a private object, such as an offer in a cabinet. What a caller may not read
    /// is missing.
    pub fn judge_read(&self, owner: Owner<'_>) -> Verdict {
        if self.has_own(Action::ReadOwn, owner) || self.may(Action::ReadAny) {
            Verdict::Allowed
        } else {
            Verdict::Missing
        }
    }

    /// Judges a change by the owner or in the owner's name. Without read access the object is
    /// missing.
    pub fn judge_write(&self, owner: Owner<'_>) -> Verdict {
        self.judge_change(Action::WriteForSeller, owner, self.has_own(Action::WriteOwn, owner))
    }

    /// Judges an action that does not need the owner: [`Action::Moderate`],
    /// [`Action::ChangeAnyStatus`], [`Action::SeeInternals`] of one offer. Without read access the
    /// object is missing.
    pub fn judge_on(&self, action: Action, owner: Owner<'_>) -> Verdict {
        self.judge_change(action, owner, false)
    }

    fn judge_change(&self, action: Action, owner: Owner<'_>, as_owner: bool) -> Verdict {
        if as_owner || self.may(action) {
            return Verdict::Allowed;
        }
        match self.judge_read(owner) {
            Verdict::Allowed => self.refused(),
            hidden => hidden,
        }
    }

    /// Objects of a seller need the role; an anonymous draft needs only its id.
    fn has_own(&self, action: Action, owner: Owner<'_>) -> bool {
        let role = match owner {
            Owner::Seller(_) => Some(Role::Seller),
            Owner::Anonymous(_) => None,
        };
        let has_role = role.is_none_or(|role| self.roles.has(role));
        self.owns(owner) && has_role && action.is_open_to(role)
    }

    fn refused(&self) -> Verdict {
        if self.is_anonymous() { Verdict::SignIn } else { Verdict::Forbidden }
    }
}

#[cfg(test)]
mod tests;
