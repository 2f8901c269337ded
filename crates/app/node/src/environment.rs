//! The environment of a node: the clock of offers, outbound clients, and additional routes.
//!
//! A node runs in [`Production`] unless its caller supplies another environment, as the demo does.

use std::net::SocketAddr;
use std::sync::Arc;

use api::Market;
use async_trait::async_trait;
use axum::Router;
use clock::Clock;
use ctl::Ctl;
use feeds::Feeds;
use fetch::{Client, Rules};
use stages::VideoConfig;
use topics::Topics;

use crate::supervisor::Running;

/// Creates the environment after the port is bound, when nothing else can refuse the start.
pub type Prepare = Box<dyn FnOnce(SocketAddr) -> anyhow::Result<Arc<dyn Environment>> + Send>;

#[async_trait]
pub trait Environment: Send + Sync {
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// The HTTP client for untrusted links.
    fn client(&self, rules: Rules) -> Client {
        Client::new(rules)
    }

    /// The video hosts that the video stage knows.
    fn videos(&self) -> VideoConfig {
        VideoConfig::default()
    }

    /// Additional routes, open to everyone.
    fn routes(&self) -> Option<Router> {
        None
    }

    /// True while the clock is being moved forward: rates are meaningless then.
    fn clock_jumps(&self) -> bool {
        false
    }

    /// Starts background work of the environment once the node is open.
    async fn start(&self, _node: Opened) -> anyhow::Result<Option<Started>> {
        Ok(None)
    }
}

/// The open parts of a node.
pub struct Opened {
    pub market: Market,
    pub feeds: Feeds,
    pub ctl: Ctl,
    pub topics: Topics,
}

pub struct Started {
    pub running: Running,
    pub guide: String,
}

/// The system clock and the internet.
pub struct Production;

impl Environment for Production {}
