//! Sellers who bring files, change their minds, and confirm what waits.

use std::time::Duration;

use bytes::Bytes;
use feeds::FeedName;
use feeds::{Error, Feeds};
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Feed, Link};

use super::dice::Dice;
use super::file::{Contents, any_file, good_file};
use super::process::Ground;

/// What a seller does in a run.
const STEPS: u64 = 12;
const ATTEMPTS_MAX: u32 = 1000;
const AGAIN: Duration = Duration::from_millis(300);

/// A seller with one feed.
pub(crate) struct Seller {
    pub(crate) name: FeedName,
    /// Files are fetched from a link.
    pub(crate) has_link: bool,
    ground: Ground,
    feeds: Feeds,
    dice: Dice,
    files: u64,
}

impl Seller {
    pub(crate) async fn begin(ground: &Ground, name: FeedName, has_link: bool) -> Self {
        let who = format!("{} {}", name.seller, name.namespace);
        let (_, feeds) = ground.open(&who).await;
        let link = Link { url: "http://shop.example.com/feed.yml".to_owned(), ..Link::default() };
        let feed = Feed {
            seller: name.seller.clone(),
            namespace: name.namespace.clone(),
            link: has_link.then_some(link).into(),
            paused: has_link,
            ..Feed::default()
        };
        until_done(async || match feeds.create(feed.clone()).await {
            Ok(_) | Err(Error::Exists { .. }) => Ok(()),
            Err(error) => Err(error),
        })
        .await;
        // What is found there before there is anything.
        ground.evidence.file("", Contents::default());
        Self { name, has_link, ground: ground.clone(), feeds, dice: Dice::of(ground.seed, &who), files: 0 }
    }

    /// Acts until the last step.
    pub(crate) async fn act(&mut self) {
        for _ in 0..STEPS {
            tokio::time::sleep(self.dice.ms(0..20_000)).await;
            match self.dice.within(0..100) {
                0..70 => {
                    self.files += 1;
                    let file = any_file(&self.dice, self.files);
                    self.bring(file).await;
                }
                70..85 => self.confirm().await,
                _ => {
                    self.pause(true).await;
                    tokio::time::sleep(self.dice.ms(0..10_000)).await;
                    self.pause(false).await;
                }
            }
        }
    }

    /// Brings a last file that is right, and sees to it that it is applied; the number of its load.
    pub(crate) async fn end(&mut self) -> u64 {
        self.pause(false).await;
        let file = good_file(&self.dice, self.files + 1);
        let hash = blake3::hash(file.0.as_bytes()).to_hex().to_string();
        self.bring(file).await;
        for _ in 0..2000 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.confirm().await;
            let loads = self.feeds.loads(&self.name, None, 1).await.unwrap();
            let is_done = |state| state == Some(State::STATE_DONE);
            if let Some(load) =
                loads.first().filter(|load| load.hash == hash && is_done(load.state.as_known()))
            {
                return load.number;
            }
        }
        let loads = self.feeds.loads(&self.name, None, 2).await.unwrap();
        let id = self.name.clone();
        let standing = self.feeds.watcher().explain(&id).await.unwrap();
        panic!("{:?}: the last load never ended: {loads:#?}\n{standing}", self.name);
    }

    async fn bring(&self, (text, contents): (String, Contents)) {
        self.ground.evidence.file(&text, contents);
        if self.has_link {
            self.ground.web.has(text);
            self.pause(false).await;
            until_done(async || self.feeds.fetch_now(&self.name).await).await;
            return;
        }
        until_done(async || {
            let mut spool = self.feeds.files().spool()?;
            spool.write(&Bytes::from(text.clone()))?;
            self.feeds.upload(&self.name, spool.finish()?, Origin::ORIGIN_UPLOAD).await.map(drop)
        })
        .await;
    }

    /// Confirms the last load, if it waits.
    async fn confirm(&self) {
        let Ok(loads) = self.feeds.loads(&self.name, None, 1).await else { return };
        if let Some(load) = loads.first().filter(|load| load.state.as_known() == Some(State::STATE_WAITING)) {
            // The result says whether it still waits; nothing changes here.
            let _ = self.feeds.confirm(&self.name, load.number).await;
        }
    }

    async fn pause(&self, paused: bool) {
        until_done(async || {
            let set = |feed: &mut Feed| {
                feed.paused = paused;
                Ok(())
            };
            self.feeds.update(&self.name, None, set).await.map(drop)
        })
        .await;
    }
}

/// Retries until it succeeds, because the store sometimes fails.
async fn until_done(mut work: impl AsyncFnMut() -> feeds::Result<()>) {
    for _ in 0..ATTEMPTS_MAX {
        let Err(error) = work().await else { return };
        assert!(!matches!(error, Error::Invalid { .. }), "{error}");
        tokio::time::sleep(AGAIN).await;
    }
    panic!("it was never done: {:?}", work().await);
}
