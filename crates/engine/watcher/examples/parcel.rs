//! A parcel that a stage packs once it is saved.
//!
//! `cargo run -p watcher --example parcel`

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{Batch, Memory, Schema, Store, StoreOptions};
use watcher::{Answer, Entity, Fields, Setup, Stage, StageError, Subject, Watcher};

#[derive(Clone, Debug)]
struct Parcel {
    number: u32,
    status: String,
}

impl Entity for Parcel {
    type Id = u32;
    const KIND: &'static str = "parcel";

    fn id(&self) -> u32 {
        self.number
    }

    fn encode(&self) -> Bytes {
        format!("{} {}", self.number, self.status).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = String::from_utf8_lossy(bytes);
        let (number, status) = text.split_once(' ').ok_or("the status is missing")?;
        let number = number.parse().map_err(|_| "the number is not a number")?;
        Ok(Self { number, status: status.to_owned() })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        Fields::of((before.status != after.status).then_some("status"))
    }

    fn take_fields(&mut self, _fields: &Fields, from: &Self) {
        self.status.clone_from(&from.status);
    }
}

struct Packing;

#[async_trait::async_trait]
impl Stage<Parcel> for Packing {
    fn id(&self) -> &'static str {
        "packing"
    }

    async fn process(&self, subject: &Subject<Parcel>) -> Result<Answer<Parcel>, StageError> {
        Ok(Answer::replace(Parcel { status: "packed".to_owned(), ..subject.entity }))
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let memory = Memory::new(Schema::new(1, watcher::tables())?);
    let store = Store::over(Arc::new(memory), &StoreOptions::default());
    let parcels =
        Watcher::open(&store, Setup { stages: vec![Arc::new(Packing)], ..Setup::default() }).await?;
    let mut batch = Batch::new();
    parcels.save(&mut batch, None, &Parcel { number: 7, status: "new".to_owned() }).await?;
    assert!(store.commit(batch).await?.is_applied());
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let until_packed = async {
        while parcels.load(&7).await?.is_none_or(|parcel| parcel.entity.status != "packed") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        println!("{}", parcels.explain(&7).await?);
        watcher::Result::Ok(stop.send_replace(true))
    };
    tokio::try_join!(parcels.run("this process".to_owned(), stopped), until_packed)?;
    Ok(())
}
