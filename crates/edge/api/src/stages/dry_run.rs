//! Dry runs: what a stage would change.

use std::sync::Arc;

use access::{Action, Caller};
use connectrpc::ErrorCode;
use offers::{OfferId, StoredOffer};
use remote_stages::StageSpec;
use watcher::{Rehearsed, Stage, Versioned};
use wire::torg::stages::v1 as proto;

use super::StagesRpc;
use super::messages::differences;
use crate::caller::require;
use crate::errors::Refusal;
use crate::limits::{
    CATEGORY_BYTES_MAX, DIFFERENCES_SHOWN, REHEARSED, REHEARSED_MAX, REHEARSED_SEEN_MAX, count, name,
};
use crate::offers::checks;

impl StagesRpc {
    /// Runs a stage on some offers without saving anything.
    pub(super) async fn dry_run(
        &self,
        caller: &Caller,
        request: proto::DryRunRequest,
    ) -> Result<proto::DryRunResponse, Refusal> {
        require(caller, Action::Administer)?;
        let stage = self.stage_to_run(&request)?;
        let offers = self.sample(&request).await?;
        let watcher = self.0.offers().watcher();
        let rehearsed = watcher.rehearse(&*stage, offers).await?;
        Ok(summary(rehearsed))
    }

    /// The stage, or another version at these addresses.
    fn stage_to_run(&self, request: &proto::DryRunRequest) -> Result<Arc<dyn Stage<StoredOffer>>, Refusal> {
        let id = self.known(&request.id)?;
        if request.endpoints.is_empty() {
            return self.0.stage(id).ok_or_else(|| super::no_stage(id));
        }
        let outside = self.0.remote();
        let Some(bench) = outside.get(id) else {
            let text = format!("{id:?} is a built-in stage: it has no addresses");
            return Err(Refusal::new(ErrorCode::InvalidArgument, "BUILT_IN", text));
        };
        let declared = bench.entry.spec.with_endpoints(&request.endpoints);
        let outside = StageSpec::check(&declared)
            .map_err(|wrong| Refusal::from(remote_stages::StageStoreError::Invalid(wrong)))?;
        Ok(Arc::new(self.0.plugin(&outside, bench.entry.described.as_ref())))
    }

    /// The named offers, or a sample.
    async fn sample(&self, request: &proto::DryRunRequest) -> Result<Vec<Versioned<StoredOffer>>, Refusal> {
        let watcher = self.0.offers().watcher();
        if !request.offers.is_empty() {
            count("offers", request.offers.len(), REHEARSED_MAX)?;
            let mut found = Vec::with_capacity(request.offers.len());
            for (number, id) in request.offers.iter().enumerate() {
                let id: OfferId = checks::id(&format!("offers[{number}]"), id)?;
                found.push(watcher.load(&id).await?.ok_or_else(|| Refusal::no_offer(id))?);
            }
            return Ok(found);
        }
        let wanted = if request.sample == 0 { REHEARSED } else { request.sample as usize };
        count("sample", wanted, REHEARSED_MAX)?;
        if request.category.is_empty() {
            return Ok(watcher.sample(wanted).await?);
        }
        name("category", &request.category, CATEGORY_BYTES_MAX)?;
        let catalogue = self.0.offers().catalogue();
        let Some(above) = catalogue.category(&request.category) else {
            let text = format!("there is no category {:?}", request.category);
            return Err(Refusal::wrong_field("category", "UNKNOWN_CATEGORY", text));
        };
        let mut found = watcher.sample(REHEARSED_SEEN_MAX).await?;
        found.retain(|found| {
            let category = catalogue.category(&found.entity.offer.category);
            category.is_some_and(|category| category.id() == above.id() || category.is_within(above))
        });
        found.truncate(wanted);
        Ok(found)
    }
}

fn summary(rehearsed: Vec<Rehearsed<StoredOffer>>) -> proto::DryRunResponse {
    let mut summary = proto::DryRunResponse { seen: rehearsed.len() as u64, ..Default::default() };
    for Rehearsed { before, version, outcome } in rehearsed {
        let mut difference =
            proto::Difference { id: before.offer.id.clone(), version, ..proto::Difference::default() };
        match outcome {
            Err(failure) => {
                summary.failed += 1;
                difference.failure = failure;
            }
            Ok(outcome) => {
                difference.visit_at = outcome.next.map(offers::time::from_time).into();
                difference.state_changes = outcome.state_changes;
                let Some((after, _)) = outcome.change else {
                    summary.unchanged += 1;
                    continue;
                };
                summary.changed += 1;
                difference.fields = differences(&before.offer, &after.offer);
                for field in &difference.fields {
                    *summary.fields.entry(field.field.clone()).or_default() += 1;
                }
            }
        }
        if summary.differences.len() < DIFFERENCES_SHOWN {
            summary.differences.push(difference);
        }
    }
    summary
}
