//! The role `api`: accepts calls over RPC and HTTP. A console needs it too, because it is a client
//! of the services in its own process.

use access::ApiKeys;
use api::{CtlCalls, FeedCalls, Market, TaskCalls};
use clock::Clock;
use ctl::Ctl;
use feeds::Feeds;
use store::Store;
use tasks::Tasks;
use topics::Topics;

use crate::actions::Actions;
use crate::config::Role;
use crate::node::Node;
use crate::server::{self, FeedFiles, Info, RpcParts};

impl Node {
    /// Accepts calls. A process without this role serves only health, figures and keys.
    #[expect(clippy::too_many_arguments, reason = "the parts of the process, one each")]
    pub(crate) fn open_api(
        &mut self,
        store: &Store,
        topics: Topics,
        keys: ApiKeys,
        market: Market,
        feeds: Feeds,
        ctl: Ctl,
        tasks: Option<Tasks>,
    ) -> anyhow::Result<()> {
        let feeds = FeedCalls::new(feeds, self.config.feeds.errors_url.clone());
        let ctl = CtlCalls { ctl, closing: self.closing.subscribe() };
        let serves_api = self.has_any(&[Role::Api, Role::Console]);
        let actions = self.record_actions(store);
        let service = server::rpc_service(RpcParts {
            limits: self.config.limits.clone(),
            readiness: self.readiness.clone(),
            metrics: self.metrics.clone(),
            info: Info {
                started: self.started,
                roles: self.role_names(),
                store_engine: store.engine_name().to_owned(),
            },
            topics,
            keys,
            observatory: self.observatory.clone(),
            actions: actions.clone(),
            offers_topic: self.config.offers.topic.clone(),
            market: serves_api.then_some(market),
            feeds: serves_api.then(|| feeds.clone()),
            ctl: serves_api.then_some(ctl),
            tasks: tasks.filter(|_| serves_api).map(|tasks| TaskCalls { tasks }),
        })?;
        // `open` runs once, so the slot is empty.
        let _ = self.slots.rpc.set(service);
        if serves_api {
            let _ = self.slots.feeds.set(FeedFiles::new(feeds, actions, &self.config.feeds));
        }
        Ok(())
    }

    /// Opens the audit log and starts deleting old entries.
    fn record_actions(&self, store: &Store) -> Actions {
        let actions = Actions::new(store.clone(), Clock::system());
        let (cleaned, closing) = (actions.clone(), self.closing.subscribe());
        tokio::spawn(async move { cleaned.run_cleaning(closing).await });
        actions
    }
}
