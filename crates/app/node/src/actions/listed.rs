//! Queries on recorded actions: newest first, filtered by object, author, method and outcome.

use store::{Key, Read as _};
use wire::torg::admin::v1::Action;

use super::limits::{LOOKED_AT_MAX, LOOKED_AT_ONCE};
use super::{ACTIONS, Actions, BY_ABOUT, Place, SHARD, place, read};

/// A filter on actions. All conditions must hold; an empty field is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub about: String,
    pub author: String,
    /// Only actions that failed or were refused.
    pub failed: bool,
    /// A prefix of the method name.
    pub method_prefix: String,
}

impl Wanted {
    /// True if the object is the only condition.
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
    /// Matching actions after `place`, newest first, at most `limit`, and the place to continue
    /// from if there are more. One call scans a bounded number of actions, so it may return fewer
    /// than `limit` although more follow.
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

    /// Actions about an object (or about any) after a place, and whether more follow. An action
    /// that is deleted during the read yields a place without an action.
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
