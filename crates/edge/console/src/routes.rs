//! The router of the console.

use std::sync::{Arc, OnceLock};

use access::Gate;
use axum::Router;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use axum::routing::{any, get, post};
use clock::{Clock, Time};

use crate::limits::{SIGN_INS_MAX, SIGN_INS_OF_ONE_MAX};
use crate::overview_cache::OverviewCache;
use crate::services::Services;
use crate::session::Sealer;
use crate::slots::Slots;
use crate::{answer, assets, pages, visit};

pub struct Dependencies {
    /// Authenticates visitors.
    pub gate: Gate,
    /// Answers the calls of pages.
    pub services: Arc<dyn Services>,
    /// Seals cookies; set once the store is open. Until then pages say that Torg is starting.
    pub sealer: Arc<OnceLock<Sealer>>,
    /// The clock of sessions.
    pub clock: Clock,
    /// The clock of offers: another one only in the demo.
    pub world: Clock,
    pub tls: bool,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Console(Arc<Inner>);

struct Inner {
    parts: Dependencies,
    overview: OverviewCache,
    sign_ins: Slots,
}

impl Console {
    #[must_use]
    pub fn new(parts: Dependencies) -> Self {
        let sign_ins = Slots::new(SIGN_INS_MAX, SIGN_INS_OF_ONE_MAX);
        Self(Arc::new(Inner { parts, overview: OverviewCache::default(), sign_ins }))
    }

    /// The routes under `/console/`. They authenticate on their own, so mount them outside the
    /// gate.
    pub fn routes(self) -> Router {
        let behind = pages::routes()
            .route("/console/{*rest}", any(pages::missing))
            // A GET for an address that only accepts forms.
            .method_not_allowed_fallback(pages::missing)
            .layer(from_fn_with_state(self.clone(), visit::admit));
        let open = Router::new()
            .route("/console/assets/{name}", get(assets::serve))
            .route("/console/sign-in", get(pages::sign_in::show).post(pages::sign_in::take))
            .route("/console/sign-out", post(pages::sign_in::leave));
        Router::new()
            .merge(open)
            .merge(behind)
            .layer(map_response_with_state(self.clone(), answer::leaving))
            .with_state(self)
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.0.parts.gate
    }

    pub(crate) fn services(&self) -> &dyn Services {
        &*self.0.parts.services
    }

    pub(crate) fn sealer(&self) -> Option<&Sealer> {
        self.0.parts.sealer.get()
    }

    pub(crate) fn now(&self) -> Time {
        self.0.parts.clock.now()
    }

    pub(crate) fn now_of_offers(&self) -> Time {
        self.0.parts.world.now()
    }

    /// The shared overview.
    pub(crate) fn overview(&self) -> &OverviewCache {
        &self.0.overview
    }

    /// Limits sign-in forms that are read at the same time.
    pub(crate) fn sign_ins(&self) -> &Slots {
        &self.0.sign_ins
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.0.parts.tls
    }
}
