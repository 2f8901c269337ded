//! What surrounds a node: the clock that offers follow, the outbound clients, routes beside Torg's
//! own.
//!
//! A node runs in [`Production`] unless its caller brings another environment, as the demo does.

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

/// Makes the environment of a node whose port is taken: nothing refuses the start after that.
pub type Prepare = Box<dyn FnOnce(SocketAddr) -> anyhow::Result<Arc<dyn Environment>> + Send>;

/// The surroundings of a node.
#[async_trait]
pub trait Environment: Send + Sync {
    /// The clock that offers follow.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// The client for links of strangers, under these rules.
    fn client(&self, rules: Rules) -> Client {
        Client::new(rules)
    }

    /// The hosts of videos that the stage for videos knows.
    fn videos(&self) -> VideoConfig {
        VideoConfig::default()
    }

    /// Routes beside Torg's own, open to everybody.
    fn routes(&self) -> Option<Router> {
        None
    }

    /// True while the clock is set forward: rates by time mean nothing then.
    fn clock_jumps(&self) -> bool {
        false
    }

    /// Starts work of the environment's own once the node is open.
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

/// What an environment started.
pub struct Started {
    pub running: Running,
    /// Printed to stdout once the node is ready.
    pub guide: String,
}

/// The system clock and the internet.
pub struct Production;

impl Environment for Production {}
