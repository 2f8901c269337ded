//! Actions as they are looked for: the newest first, by what they are about, by who did them, by
//! how and with what outcome.

use store::{Key, Read as _};
use wire::torg::admin::v1::Action;

use super::limits::{LOOKED_AT_MAX, LOOKED_AT_ONCE};
use super::{ACTIONS, Actions, BY_ABOUT, Place, SHARD, place, read};

/// Which actions are wanted: those that fit everything that is said. What is empty says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub about: String,
    pub author: String,
    /// Only what failed or was refused.
    pub failed: bool,
    /// How the names of their methods begin.
    pub method_prefix: String,
}

impl Wanted {
    /// Whether every action about it is wanted.
    fn is_all(&self) -> bool {
        self.author.is_empty() && !self.failed && self.method_prefix.is_empty()
    }

    fn fits(&self, action: &Action) -> bool {
        (self.author.is_empty() || action.author == self.author)
            && !(self.failed && action.outcome == "ok")
            && action.method.starts_with(&self.method_prefix)
    }
}

impl Actions {
    /// Wanted actions behind a place, the newest first, at most `limit`; and the place from which
    /// it goes on, if there are more. Of all that there are, so many are looked at: there may be
    /// fewer, and more behind them.
    pub async fn list(
        &self,
        wanted: &Wanted,
        mut after: Option<Place>,
        limit: usize,
    ) -> store::Result<(Vec<Action>, Option<Place>)> {
        let at_once = if wanted.is_all() { limit } else { LOOKED_AT_ONCE };
        let (mut found, mut looked_at) = (Vec::new(), 0);
        loop {
            let (some, more) = self.some(&wanted.about, after.as_ref(), at_once).await?;
            looked_at += some.len();
            for (place, action) in some {
                if found.len() == limit {
                    return Ok((found, after));
                }
                after = Some(place);
                found.extend(action.filter(|action| wanted.fits(action)));
            }
            if !more {
                return Ok((found, None));
            }
            if found.len() == limit || looked_at >= LOOKED_AT_MAX {
                return Ok((found, after));
            }
        }
    }

    /// Some actions about this, or about anything, behind a place; and whether there are more. One
    /// that goes at this moment is a place without an action.
    async fn some(
        &self,
        about: &str,
        after: Option<&Place>,
        limit: usize,
    ) -> store::Result<(Vec<(Place, Option<Action>)>, bool)> {
        if about.is_empty() {
            let mut scan = ACTIONS.prefix((SHARD,)).descending().limit(limit);
            if let Some(Place { at, id }) = after {
                scan = scan.after(ACTIONS.key((SHARD, *at, &**id)));
            }
            let page = self.store.scan(&scan).await?;
            let some = page.rows.iter().map(|row| Ok((place(&row.key)?, Some(read(&row.value, &row.key)))));
            return Ok((some.collect::<store::Result<_>>()?, page.next.is_some()));
        }
        let mut scan = BY_ABOUT.prefix((SHARD, about)).descending().limit(limit);
        if let Some(Place { at, id }) = after {
            scan = scan.after(BY_ABOUT.key((SHARD, about, *at, &**id)));
        }
        let page = self.store.scan(&scan).await?;
        let places = page.rows.iter().map(|row| {
            let (_, _, at, id) = BY_ABOUT.parts(&row.key)?;
            Ok(Place { at, id })
        });
        let places: Vec<Place> = places.collect::<store::Result<_>>()?;
        let keys: Vec<Key> = places.iter().map(|Place { at, id }| ACTIONS.key((SHARD, *at, &**id))).collect();
        let rows = self.store.get(&keys).await?;
        let actions = rows.into_iter().map(|row| row.map(|row| read(&row.value, &row.key)));
        Ok((places.into_iter().zip(actions).collect(), page.next.is_some()))
    }
}
