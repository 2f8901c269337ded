//! The routes of the console, and what stands before them.

use std::sync::{Arc, OnceLock};

use access::Gate;
use axum::Router;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use axum::routing::{any, get, post};
use clock::{Clock, Time};

use crate::limits::{SIGN_INS_MAX, SIGN_INS_OF_ONE_MAX};
use crate::services::Services;
use crate::session::Sealer;
use crate::shared::Shared;
use crate::turns::Turns;
use crate::{answer, assets, pages, visit};

/// What the console is made of.
pub struct Parts {
    /// Who may look.
    pub gate: Gate,
    /// What answers it.
    pub services: Arc<dyn Services>,
    /// What seals its cookies, once the store is open. Until then pages say that Torg is starting.
    pub sealer: Arc<OnceLock<Sealer>>,
    /// Tells the time, for sessions.
    pub clock: Clock,
    /// The clock that offers live by, for how long ago something was: the same, but in a demo.
    pub world: Clock,
    /// Whether the port speaks TLS.
    pub tls: bool,
}

/// The console. Cheap to clone.
#[derive(Clone)]
pub struct Console(Arc<Inner>);

struct Inner {
    parts: Parts,
    overview: Shared,
    sign_ins: Turns,
}

impl Console {
    /// A console of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let sign_ins = Turns::new(SIGN_INS_MAX, SIGN_INS_OF_ONE_MAX);
        Self(Arc::new(Inner { parts, overview: Shared::default(), sign_ins }))
    }

    /// Everything under `/console/`. It judges its visitors itself: to be put outside of the gate for calls.
    pub fn routes(self) -> Router {
        let behind = pages::routes()
            .route("/console/{*rest}", any(pages::missing))
            // Somebody looks at an address that only takes forms.
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

    /// The middle of the overview.
    pub(crate) fn overview(&self) -> &Shared {
        &self.0.overview
    }

    /// Forms of those who sign in that are read now.
    pub(crate) fn sign_ins(&self) -> &Turns {
        &self.0.sign_ins
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.0.parts.tls
    }
}
