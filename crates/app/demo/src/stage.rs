//! The outside stage of the demo: `torg demo-stage`, a separate process that cleans up titles. Torg
//! calls it by gRPC like any other outside stage.
//!
//! To show failures, it fails for a few offers: permanently for titles that need a manual
//! correction, and temporarily for some others, as if a service that it depends on were down.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use stagekit::{Answer, Description, Failure, Offer, Options, Server, Stage, Subject};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64;

use super::polish::{mixed_word, polished};

/// The id in the registry of stages.
pub const ID: &str = "title-polish";
/// The hidden subcommand that runs the stage.
pub(super) const VERB: &str = "demo-stage";
/// The start of the line that reports the listening address.
pub(super) const LISTENING: &str = "listening on ";
/// One offer of this many depends on the simulated service.
const DEPENDENT: u64 = 60;
/// The service is down in one minute of this many.
const AWAY_EVERY_MINUTES: i64 = 3;
/// An offer's time further behind the real time than this belongs to the past that is being
/// created.
const BEHIND_MAX: SignedDuration = SignedDuration::from_mins(10);
/// Maximum failed attempts of an offer in one outage. At normal speed an outage has fewer. If the
/// clock runs fast, retries come quickly, and an offer that failed through the whole minute would
/// be parked.
const ATTEMPTS_MAX: u32 = 10;
/// Maximum offers that fail in one outage.
const WAITING_MAX: usize = 10_000;

/// How the stage is served.
#[derive(Debug, Args)]
pub struct StageFlags {
    /// Address and port; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: String,
}

#[derive(Default)]
struct TitlePolish {
    outage: Mutex<Outage>,
}

/// A simulated outage: its minute, and the attempts of each offer in it.
#[derive(Default)]
struct Outage {
    minute: i64,
    attempts: BTreeMap<String, u32>,
}

#[stagekit::async_trait]
impl Stage for TitlePolish {
    fn describe(&self) -> Description {
        Description::new(ID, env!("CARGO_PKG_VERSION")).interest(["title"]).sets(["title"])
    }

    async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
        let Offer { id, title, .. } = &subject.offer;
        if let Some(word) = mixed_word(title) {
            let text = format!("the word {word:?} mixes two alphabets: a person has to look at the title");
            return Err(Failure::Lasting(text));
        }
        let now = Timestamp::now();
        if is_dependent(id) && is_dictionary_away(subject.now, now) && self.waits(id, minute_of(now)) {
            let text = "the dictionary of names is being loaded: it is back within a minute";
            return Err(Failure::Passing(text.to_owned()));
        }
        let tidy = polished(title);
        if tidy == *title {
            return Ok(Answer::untouched());
        }
        Ok(Answer::patch(["title"], Offer { title: tidy, ..Offer::default() }))
    }
}

impl TitlePolish {
    /// Counts an attempt at an offer in the outage of this minute. Returns whether the offer should
    /// wait on.
    fn waits(&self, id: &str, minute: i64) -> bool {
        // A panic cannot leave the map in an invalid state.
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        if outage.minute != minute {
            *outage = Outage { minute, attempts: BTreeMap::new() };
        }
        if !outage.attempts.contains_key(id) && outage.attempts.len() >= WAITING_MAX {
            return false;
        }
        let attempts = outage.attempts.entry(id.to_owned()).or_default();
        *attempts += 1;
        *attempts <= ATTEMPTS_MAX
    }
}

/// Whether the offer depends on the dictionary service.
fn is_dependent(id: &str) -> bool {
    xxh3_64(id.as_bytes()).is_multiple_of(DEPENDENT)
}

/// Whether the real time is in a minute of an outage, at any speed of the demo's clock. There are
/// no outages while past offers are created: their time is behind the real time and moves by days.
fn is_dictionary_away(of_offers: Timestamp, of_machine: Timestamp) -> bool {
    let is_past = of_machine.duration_since(of_offers) > BEHIND_MAX;
    !is_past && minute_of(of_machine) % AWAY_EVERY_MINUTES == 0
}

fn minute_of(time: Timestamp) -> i64 {
    time.as_second() / 60
}

/// Serves the stage until SIGTERM or until the parent process ends. The end of the parent closes
/// standard input, even after a crash.
pub async fn serve(flags: StageFlags) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to signals")?;
    let parent_gone = watch_input()?;
    let options = Options { address: flags.listen, ..Options::default() };
    let server = Server::bind(vec![Arc::new(TitlePolish::default())], options).await?;
    terminal::print(&[format!("{LISTENING}{}", server.address())])?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = parent_gone => {}
        }
    };
    server.run(stop).await;
    Ok(())
}

/// Completes at the end of standard input. Reads on a thread of its own, which does not keep the
/// process from exiting.
fn watch_input() -> anyhow::Result<oneshot::Receiver<()>> {
    let (gone, told) = oneshot::channel();
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut input = std::io::stdin().lock();
            let mut buffer = [0; 256];
            while input.read(&mut buffer).is_ok_and(|count| count > 0) {}
            // The receiver may be gone already.
            let _ = gone.send(());
        })
        .context("cannot start a thread")?;
    Ok(told)
}

#[cfg(test)]
mod tests {
    use stagekit::testing;

    use super::*;

    async fn visit(title: &str) -> Result<String, Failure> {
        let offer = Offer { title: title.to_owned(), ..Offer::default() };
        Ok(testing::visit(&TitlePolish::default(), &testing::subject(offer)).await?.offer.title)
    }

    #[tokio::test]
    async fn titles_are_tidied_and_those_that_are_tidy_are_left_alone() {
        assert_eq!(visit("Red   bicycle").await.unwrap(), "Red bicycle");
        assert_eq!(visit("Red bicycle").await.unwrap(), "Red bicycle");
    }

    #[tokio::test]
    async fn a_title_of_two_alphabets_is_for_a_person() {
        let failure = visit("Дивaн угловой").await.unwrap_err();
        assert!(matches!(failure, Failure::Lasting(text) if text.contains("Дивaн")));
    }

    #[test]
    fn the_dictionary_comes_and_goes_however_fast_time_runs_but_not_while_the_past_is_made() {
        let minute = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let away =
            |of_offers: i64, of_machine: i64| is_dictionary_away(minute(of_offers), minute(of_machine));
        let year = 365 * 24 * 60;
        for ahead in [0, 60, year] {
            assert!(away(30 + ahead, 30) && away(33 + ahead, 33), "{ahead}");
            assert!(!away(31 + ahead, 31) && !away(32 + ahead, 32), "{ahead}");
        }
        assert!(away(year - 10, year) && !away(year - 11, year) && !away(0, year));
    }

    #[test]
    fn an_offer_that_waited_often_enough_in_one_outage_goes_on() {
        let stage = TitlePolish::default();
        for minute in [30, 33] {
            assert!((0..ATTEMPTS_MAX).all(|_| stage.waits("1", minute)), "{minute}");
            assert!(!stage.waits("1", minute) && stage.waits("2", minute), "{minute}");
        }
    }
}
