//! Scans of queues: what is due, and when the next row will be.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::Read;

use crate::Result;
use crate::entity::Entity;
use crate::limits::SCAN_ROWS_MAX;
use crate::queue::Lane;
use crate::schedule::{Line, Scanned};
use crate::tables::QUEUES;
use crate::watcher::Watcher;
use clock::Time;

/// The rows of a queue to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    pub(crate) shard: u32,
    pub(crate) stage: &'a str,
    pub(crate) line: Line,
    /// There are no rows before this time.
    pub(crate) low: Time,
    /// The boundary between late timers and timers.
    pub(crate) late_before: Time,
    /// Rows that the loop knows already.
    pub(crate) known: usize,
}

impl<E: Entity> Watcher<E> {
    /// The oldest rows of a queue that are due and that the loop does not know.
    pub(crate) async fn scan_queue(
        &self,
        window: Window<'_>,
        is_known: impl Fn(Time, &Arc<str>) -> bool,
    ) -> Result<Scanned> {
        let now = self.now();
        let Window { shard, stage, line, low, late_before, known } = window;
        let lane = line.lane().number();
        let from = if line == Line::Timer { low.max(late_before) } else { low };
        let mut scan = QUEUES.prefix((shard, E::KIND, lane, stage)).limit(SCAN_ROWS_MAX + known);
        scan = scan.from(QUEUES.bound((shard, E::KIND, lane, stage, from.as_ms())));
        if line == Line::Late {
            scan = scan.below(QUEUES.bound((shard, E::KIND, lane, stage, late_before.as_ms())));
        }
        let page = self.store().scan(&scan).await?;
        let more = page.next.is_some();
        let mut scanned = Scanned { due: Vec::new(), later: None, low: now };
        for row in page.rows {
            let (.., visit, entity) = QUEUES.parts(&row.key)?;
            let (visit, entity) = (Time::from_ms(visit), Arc::from(entity));
            scanned.low = scanned.low.min(visit);
            if visit > now {
                scanned.later = Some(visit);
                return Ok(scanned);
            }
            if !is_known(visit, &entity) {
                scanned.due.push((visit, entity));
            }
        }
        scanned.later = more.then_some(now);
        Ok(scanned)
    }

    /// When the first row of each queue of a shard is due, in the lanes up to this one. Costs one
    /// short read for each queue that is not empty.
    pub(crate) async fn survey(&self, shard: u32, through: Lane) -> Result<BTreeMap<(Lane, String), Time>> {
        let mut firsts = BTreeMap::new();
        let end = QUEUES.bound((shard, E::KIND, through.number()));
        let mut from = QUEUES.scan().from(QUEUES.bound((shard, E::KIND)));
        loop {
            let page = self.store().scan(&from.through(end.clone()).limit(1)).await?;
            let Some(row) = page.rows.first() else { return Ok(firsts) };
            let (_, _, lane, stage, visit, _) = QUEUES.parts(&row.key)?;
            from = QUEUES.scan().above(QUEUES.bound((shard, E::KIND, lane, &*stage)));
            firsts.insert((Lane::from_number(lane), stage), Time::from_ms(visit));
        }
    }

    /// When the first timer of a stage is due that is not late.
    pub(crate) async fn first_timer(
        &self,
        shard: u32,
        stage: &str,
        late_before: Time,
    ) -> Result<Option<Time>> {
        let lane = Lane::Timer.number();
        let from = QUEUES.bound((shard, E::KIND, lane, stage, late_before.as_ms()));
        let scan = QUEUES.prefix((shard, E::KIND, lane, stage)).from(from).limit(1);
        let page = self.store().scan(&scan).await?;
        let Some(row) = page.rows.first() else { return Ok(None) };
        let (.., visit, _) = QUEUES.parts(&row.key)?;
        Ok(Some(Time::from_ms(visit)))
    }
}
