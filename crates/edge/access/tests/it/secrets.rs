//! Secrets that processes of one store share.

use std::sync::Arc;

use access::{Entropy, shared_secret};
use store::{Memory, Schema, Store, StoreOptions};

#[tokio::test]
async fn all_who_open_a_store_have_the_same_secret_and_each_purpose_has_its_own() {
    let schema = Schema::new(1, access::tables()).unwrap();
    let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
    let (first, second) =
        tokio::join!(async { shared_secret(&store, &Entropy::system(), "console").await.unwrap() }, async {
            shared_secret(&store, &Entropy::system(), "console").await.unwrap()
        },);
    assert_eq!(first, second);
    assert_eq!(shared_secret(&store, &Entropy::system(), "console").await.unwrap(), first);
    assert_ne!(shared_secret(&store, &Entropy::system(), "another").await.unwrap(), first);
}
