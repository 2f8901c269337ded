//! The role `console`: the web pages.

use console::Sealer;
use store::Store;

use crate::auth;
use crate::config::Role;
use crate::node::Node;

impl Node {
    pub(crate) async fn open_console(&self, store: &Store) -> anyhow::Result<()> {
        if self.config.roles.contains(&Role::Console) {
            let secret = access::shared_secret(store, &access::Entropy::system(), "console").await;
            // `open` runs once, so the slot is empty.
            let _ = self.slots.sealer.set(Sealer::new(&secret.map_err(auth::access_error)?));
        }
        Ok(())
    }
}
