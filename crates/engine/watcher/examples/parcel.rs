//! The crate alone, with an entity of one's own: a parcel that is packed when it is paid, and reminds of itself when it is not.
//!
//! `cargo run -p watcher --example parcel`

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use store::{Batch, Memory, Schema, Store, StoreOptions};
use tokio::sync::watch;
use watcher::{Answer, Entity, Fields, Interest, Setup, Stage, StageError, Subject, Watcher};

/// A parcel: `number paid status`.
#[derive(Clone, Debug, PartialEq)]
struct Parcel {
    number: u32,
    paid: bool,
    status: String,
}

impl Entity for Parcel {
    type Id = u32;
    const KIND: &'static str = "parcel";

    fn id(&self) -> u32 {
        self.number
    }

    fn encode(&self) -> Bytes {
        format!("{} {} {}", self.number, self.paid, self.status).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = String::from_utf8_lossy(bytes);
        let [number, paid, status] = text.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            return Err("a parcel has a number, a payment and a status".to_owned());
        };
        let number = number.parse().map_err(|_| "the number is not a number")?;
        Ok(Self { number, paid: paid == "true", status: status.to_owned() })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let paid = (before.paid != after.paid).then_some("paid");
        Fields::of(paid.into_iter().chain((before.status != after.status).then_some("status")))
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        let Self { paid, status, .. } = from.clone();
        self.paid = if fields.covers("paid") { paid } else { self.paid };
        self.status = if fields.covers("status") { status } else { self.status.clone() };
    }
}

/// Packs what is paid; asks again in a second for what is not.
struct Packing;

#[async_trait]
impl Stage<Parcel> for Packing {
    fn id(&self) -> &'static str {
        "packing"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["paid"]))
    }

    async fn process(&self, subject: &Subject<Parcel>) -> Result<Answer<Parcel>, StageError> {
        let status = if subject.entity.paid { "packed" } else { "reminded" };
        let parcel = Parcel { status: status.to_owned(), ..subject.entity.clone() };
        let answer = Answer::patch(Fields::of(["status"]), parcel);
        let next = subject.now + Duration::from_secs(1);
        Ok(if subject.entity.paid { answer } else { answer.visit_at(next) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store =
        Store::over(Arc::new(Memory::new(Schema::new(1, watcher::tables())?)), &StoreOptions::default());
    let stages: Vec<Arc<dyn Stage<Parcel>>> = vec![Arc::new(Packing)];
    let parcels = Watcher::open(&store, Setup { stages, ..Setup::default() }).await?;
    let stop = watch::Sender::new(false);
    let (at_work, stopped) = (parcels.clone(), stop.subscribe());
    let running = tokio::spawn(async move { at_work.run("this process".to_owned(), stopped).await });
    for paid in [false, true] {
        let before = parcels.load(&7).await?;
        let mut batch = Batch::new();
        let parcel = Parcel { number: 7, paid, status: "new".to_owned() };
        let version = parcels.save(&mut batch, before.as_ref(), &parcel).await?;
        println!("saved as version {version}: {:?}", store.commit(batch).await?);
        tokio::time::sleep(Duration::from_millis(500)).await;
        println!("{:?}", parcels.load(&7).await?);
    }
    stop.send_replace(true);
    Ok(running.await??)
}
