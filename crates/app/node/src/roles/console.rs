//! The role `console`: the pages for people.

use console::Sealer;
use store::Store;

use crate::auth;
use crate::config::Role;
use crate::node::Node;

impl Node {
    /// Lets people sign in from now on.
    pub(crate) async fn open_console(&self, store: &Store) -> anyhow::Result<()> {
        if self.config.roles.contains(&Role::Console) {
            let secret = access::shared_secret(store, &access::Entropy::system(), "console").await;
            // Set once: `open` runs once.
            let _ = self.slots.sealer.set(Sealer::new(&secret.map_err(auth::access_error)?));
        }
        Ok(())
    }
}
