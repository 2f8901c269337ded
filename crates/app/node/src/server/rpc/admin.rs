//! Implements `torg.admin.v1.AdminService`.

use std::time::Instant;

use access::Action;
use connectrpc::{RequestContext, Response, ServiceResult};

use super::callers::require;
use wire::torg::admin::v1::{AdminService, GetInfoRequest, GetInfoResponse};

#[derive(Debug, Clone)]
pub struct Info {
    pub started: Instant,
    pub roles: Vec<String>,
    pub store_engine: String,
}

pub(super) struct Admin {
    info: Info,
}

impl Admin {
    pub(super) fn new(info: Info) -> Admin {
        Admin { info }
    }
}

impl AdminService for Admin {
    async fn get_info(
        &self,
        context: RequestContext,
        _request: GetInfoRequest,
    ) -> ServiceResult<GetInfoResponse> {
        require(&context, Action::SeeProcess)?;
        Response::ok(GetInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: self.info.started.elapsed().as_secs() as u32,
            roles: self.info.roles.clone(),
            store_engine: self.info.store_engine.clone(),
            ..GetInfoResponse::default()
        })
    }
}
