//! The memory that all processes share. Whoever watches sees every batch at the moment when it is
//! applied.

use std::collections::BTreeMap;

use async_trait::async_trait;
use store::engine::{ApplyError, Engine, Group, HintSender, Read, Verdict};
use store::{BatchId, Error, Key, Memory, Page, Result, Row, Scan, Schema};

use super::evidence::Evidence;

#[derive(Clone)]
pub(crate) struct Observed {
    pub(crate) memory: Memory,
    pub(crate) evidence: Evidence,
}

#[async_trait]
impl Read for Observed {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.memory.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.memory.scan(scan).await
    }
}

#[async_trait]
impl Engine for Observed {
    fn name(&self) -> &'static str {
        "observed memory"
    }

    fn schema(&self) -> &Schema {
        self.memory.schema()
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        self.memory.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let verdicts = self.memory.apply(group).await?;
        for (batch, verdict) in group.batches.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Applied) {
                self.evidence.committed(batch);
            }
        }
        Ok(verdicts)
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        self.memory.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.memory.applied(batch).await
    }

    fn lanes(&self) -> usize {
        self.memory.lanes()
    }

    fn send_hints_to(&self, hints: HintSender) {
        self.memory.send_hints_to(hints);
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        self.memory.verify(found).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
