use watcher::insight::{CrawlProgress, RowKey, Settings};

use super::{End, Invariant, Seen, require};
use crate::tables::{Change, Commit, Stored};

/// A re-crawl begins only when the one before was cancelled or has come to its end, and has the
/// next number. What was cancelled stays so.
pub(crate) struct CrawlRuns {
    pub(crate) shards: u32,
}

impl CrawlRuns {
    fn look(&self, commit: &Commit<'_>, change: &Change) -> Seen {
        let order = |row: &Option<Stored>| {
            let settings = row.as_ref().map(Stored::read::<Settings>);
            settings.and_then(|settings| settings.crawl.into_option()).unwrap_or_default()
        };
        let (before, after) = (order(&change.before), order(&change.after));
        if after.run == before.run {
            return require(after.cancelled || !before.cancelled, || {
                format!("{before:?} goes on: {after:?}")
            });
        }
        let is_done = |shard| {
            let progress = commit.tables.get(&watcher::insight::crawl_key(shard, crate::thing::KIND));
            let progress = progress.map(Stored::read::<CrawlProgress>).unwrap_or_default();
            progress.run == before.run && progress.done
        };
        let is_over = before.run == 0 || before.cancelled || (0..self.shards).all(is_done);
        require(is_over && after.run == before.run + 1, || format!("{before:?} was followed by {after:?}"))
    }
}

impl Invariant for CrawlRuns {
    fn name(&self) -> &'static str {
        "one re-crawl at a time"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let orders = commit.places(|place| matches!(place, RowKey::Settings).then_some(()));
        orders.map(|((), change)| self.look(commit, change)).reduce(Seen::and)
    }
}

/// Within one re-crawl, what was done in a shard is never undone; later ones follow earlier ones;
/// and the last is done at the end unless it was cancelled.
pub(crate) struct CrawlProgresses {
    pub(crate) shards: u32,
}

impl Invariant for CrawlProgresses {
    fn name(&self) -> &'static str {
        "a re-crawl goes forward to its end"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let progresses = commit.places(|place| matches!(place, RowKey::Crawl { .. }).then_some(()));
        let look = |((), change): ((), &Change)| {
            let read =
                |row: &Option<Stored>| row.as_ref().map(Stored::read::<CrawlProgress>).unwrap_or_default();
            let (before, after) = (read(&change.before), read(&change.after));
            let far = |progress: &CrawlProgress| (progress.seen, progress.cursor.clone(), progress.queued);
            let is_further = !before.done && far(&after) >= far(&before) && after.queued >= before.queued;
            require(after.run > before.run || (after.run == before.run && is_further), || {
                format!("{before:?} was followed by {after:?}")
            })
        };
        progresses.map(look).reduce(Seen::and)
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let order = end.tables.crawl();
        if order.run == 0 || order.cancelled {
            return None;
        }
        let left = (0..self.shards).find(|shard| !end.tables.crawled(*shard).done);
        Some(require(left.is_none(), || format!("{order:?} is not done in shard {left:?}")))
    }
}
