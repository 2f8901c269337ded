//! The RPC services of this process and their interceptors.
//!
//! A call passes, from the outside in: the limits of the library (size, deadline), [`guard::Guard`]
//! (concurrency, panics, metrics), [`recorder::Recorder`] (audit log), [`strict_json::StrictJson`]
//! (unknown keys), then the service, which checks the caller that the gate admitted (`callers`).

mod admin;
mod callers;
mod guard;
mod keys;
mod observe;
mod recorder;
mod states;
mod strict_json;
mod topics;
mod watches;

use std::sync::Arc;
use std::time::Duration;

use ::topics::Topics;
use access::ApiKeys;
use anyhow::Context as _;
use api::{CtlCalls, FeedCalls, Market, TaskCalls};
use buffa_descriptor::DescriptorPool;
use connectrpc::{ConnectRpcService, DeadlinePolicy, Router};
use connectrpc_health::HealthService;
use connectrpc_reflection::Reflector;

use crate::actions::Actions;
use crate::config::Limits;
use crate::figures::Metrics;
use crate::figures::Observatory;
use crate::health::HealthChecker;
use crate::health::Readiness;

pub use admin::Info;
pub use keys::key_from_wire;
pub use topics::{message_from_wire, message_to_wire};

/// The descriptors of all `.proto` files, for reflection and for the check of JSON.
pub const DESCRIPTORS: &[u8] = wire::SERVED_DESCRIPTORS;

pub struct RpcParts {
    pub limits: Limits,
    pub readiness: Readiness,
    pub metrics: Metrics,
    pub info: Info,
    pub topics: Topics,
    pub keys: ApiKeys,
    pub observatory: Observatory,
    pub actions: Actions,
    /// The topic of changes, which clients cannot write to.
    pub offers_topic: String,
    /// Set with the role `api`, like the next three.
    pub market: Option<Market>,
    pub feeds: Option<FeedCalls>,
    pub ctl: Option<CtlCalls>,
    pub tasks: Option<TaskCalls>,
}

pub fn rpc_service(parts: RpcParts) -> anyhow::Result<ConnectRpcService> {
    states::write_out();
    let RpcParts { limits, readiness, metrics, info, topics, keys, observatory, actions, .. } = parts;
    let RpcParts { offers_topic, market, feeds, ctl, tasks, .. } = parts;
    let pool =
        Arc::new(DescriptorPool::decode(DESCRIPTORS).context("the descriptors of this build are broken")?);
    let names = pool.services().iter().map(|service| service.full_name().to_owned()).collect();
    let reflector = Reflector::from_descriptor_pool(Arc::clone(&pool)).context("cannot set up reflection")?;
    let health = Arc::new(HealthService::new(HealthChecker::new(readiness, names)));

    let router = Router::new()
        .add_service(Arc::new(admin::Admin::new(info)))
        .add_service(Arc::new(topics::TopicsRpc::new(topics, offers_topic)))
        .add_service(Arc::new(keys::KeysRpc::new(keys)))
        .add_service(Arc::new(observe::ObserveRpc::new(observatory, actions.clone())))
        .add_service(health);
    let router = market.iter().fold(router, api::register);
    let router = feeds.iter().fold(router, api::register_feeds);
    let router = ctl.iter().fold(router, api::register_ctl);
    let router = tasks.iter().fold(router, api::register_tasks);
    let router = connectrpc_health::apply_request_limits(router, connectrpc_health::request_limits());
    let router = connectrpc_reflection::install(router, reflector);

    let bytes = limits.request_bytes_max as usize;
    let longest = Duration::from_secs(limits.request_timeout_s.into());
    Ok(ConnectRpcService::new(router)
        .with_limits(
            connectrpc::Limits::default().with_max_request_body_size(bytes).with_max_message_size(bytes),
        )
        .with_deadline_policy(DeadlinePolicy::new().with_max(longest).with_default_timeout(longest))
        .with_interceptor(guard::Guard::new(limits.concurrent_requests_max as usize, metrics))
        .with_interceptor(recorder::Recorder::new(actions, Arc::clone(&pool)))
        .with_interceptor(strict_json::StrictJson::new(pool)))
}
