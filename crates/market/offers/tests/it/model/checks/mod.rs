//! What must hold at the end of a run. Every message of a check begins with the name of its file.

mod calls;
mod drafts;
mod effects;
mod externals;
mod history;
mod lists;
mod moves;
mod opinions;
mod refusals;

use crate::model::evidence::{Evidence, shown};
use crate::model::market::Market;
use crate::model::plan::{Engine, Plan};

/// Holds everything against the model.
pub(crate) async fn all(plan: &Plan, market: &Market, evidence: &Evidence) {
    last_versions(evidence);
    let standing = moves::check(evidence);
    let effects = effects::check(evidence);
    calls::check(evidence, &effects, plan.engine == Engine::Memory);
    refusals::check(evidence, &effects, &standing);
    drafts::check(evidence, &effects);
    opinions::check(market, evidence).await;
    externals::check(market, evidence).await;
    lists::check(plan, market, evidence).await;
    history::check(market, evidence).await;
}

/// The last version of every offer can be read; every offer that was returned is in the topic.
fn last_versions(evidence: &Evidence) {
    for (id, versions) in &evidence.versions {
        assert_eq!(shown(versions.last().unwrap()), evidence.current[id], "last version: {id}");
    }
    for id in evidence.notes.known.values().flatten() {
        assert!(evidence.versions.contains_key(id), "last version: the topic does not know {id}");
    }
}
