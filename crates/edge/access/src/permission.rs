//! Who may do what: one table, and the rule that what is somebody else's looks as if it did not exist.

use crate::caller::{Caller, Owner};
use crate::role::Role;

/// A kind of action. Every method of every service is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Reads what the world may see: published offers, the catalogue.
    ReadPublic,
    /// Reads what is the caller's own.
    ReadOwn,
    /// Makes or changes what is the caller's own.
    WriteOwn,
    /// Reads anybody's.
    ReadAny,
    /// Reads how something came to be: explain, history.
    SeeInternals,
    /// Bans, rejects, approves.
    Moderate,
    /// Moves anybody's offer to another status.
    ChangeAnyStatus,
    /// Makes or changes in the name of a seller.
    WriteForSeller,
    /// Looks at the process: what it runs, its figures.
    SeeProcess,
    /// Reads and writes topics, which are between programs: messages of all sellers, unfiltered.
    UseTopics,
    /// Reads and writes what stages keep beside offers: for services that work with a stage.
    UseStates,
    /// API keys, stages, tasks, settings.
    Administer,
}

const Y: bool = true;
const N: bool = false;

/// The whole of it. The columns are the anonymous caller, then [`Role::ALL`].
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

    /// Whether callers of this role may; `None` is the anonymous caller. For what is *own*, the caller has to own it besides.
    #[must_use]
    pub fn is_open_to(self, role: Option<Role>) -> bool {
        let column = role.map_or(0, |role| role as usize + 1);
        TABLE.iter().any(|(action, columns)| *action == self && columns[column])
    }
}

/// The answer to "may this caller do this?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Yes.
    Allowed,
    /// No, and the caller must not learn that there is something: answer exactly as for what does not exist.
    Missing,
    /// No, whoever they are: their roles do not suffice.
    Forbidden,
    /// Not as long as nobody knows who they are.
    SignIn,
}

impl Caller {
    /// Whether the table lets this caller do this, by any of their roles. What needs no role is open to everybody, except
    /// that a known caller has what is own only as a seller.
    #[must_use]
    pub fn may(&self, action: Action) -> bool {
        let own = matches!(action, Action::ReadOwn | Action::WriteOwn);
        let as_anybody = action.is_open_to(None) && (!own || self.anonymous.is_some());
        as_anybody || self.roles.iter().any(|role| action.is_open_to(Some(role)))
    }

    /// Judges an action that concerns nobody's property.
    pub fn judge(&self, action: Action) -> Verdict {
        if self.may(action) { Verdict::Allowed } else { self.refused() }
    }

    /// Judges reading what is not public, such as an offer in the seller's cabinet. What a caller may not read is missing.
    pub fn judge_read(&self, owner: Owner<'_>) -> Verdict {
        if self.has_own(Action::ReadOwn, owner) || self.may(Action::ReadAny) {
            Verdict::Allowed
        } else {
            Verdict::Missing
        }
    }

    /// Judges a change by its owner, or in the owner's name. Who may not even read it finds it missing.
    pub fn judge_write(&self, owner: Owner<'_>) -> Verdict {
        self.judge_change(Action::WriteForSeller, owner, self.has_own(Action::WriteOwn, owner))
    }

    /// Judges a change that does not need the owner: [`Action::Moderate`], [`Action::ChangeAnyStatus`],
    /// [`Action::SeeInternals`] of one offer. Who may not even read it finds it missing.
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

    /// A seller needs the role for what is the seller's; an anonymous draft needs only its id.
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
