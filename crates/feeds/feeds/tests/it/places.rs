//! Places by a geocoder that answers, refuses, or is away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::common::{Market, yml};
use async_trait::async_trait;
use geo::{Builtin, Error, Geocoder, Hints, Located, Places, Point};
use watcher::Clock;

static PLACES: LazyLock<Arc<Places>> = LazyLock::new(|| Arc::new(Places::builtin().unwrap()));

/// Knows one street, and is away at times.
#[derive(Clone, Default)]
struct Streets(Arc<AtomicBool>);

#[async_trait]
impl Geocoder for Streets {
    async fn find(&self, address: &str, hints: Hints<'_>) -> geo::Result<Option<Located>> {
        // A question takes time.
        tokio::task::yield_now().await;
        if self.0.load(Ordering::SeqCst) {
            return Err(Error::GeocoderUnavailable("busy".to_owned()));
        }
        let city = if address == "Проспект, 1" { "Казань" } else { address };
        Ok(Builtin::new(Arc::clone(&PLACES)).find_now(city, hints))
    }

    async fn locate(&self, _point: Point) -> geo::Result<Option<Located>> {
        Ok(None)
    }
}

fn sofa_at(address: &str, price: u32) -> String {
    yml(&[("1", "Диван серый", price)]).replace("</name>", &format!("</name><address>{address}</address>"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_geocoder_is_asked_for_places_and_an_offer_waits_as_it_is_while_it_is_away() {
    let streets = Streets::default();
    let market = Market::start_with(None, &Clock::system(), Some(Arc::new(streets.clone()))).await;
    let feed = market.feed("ann", "default").await;
    market.load(&feed, &sofa_at("Проспект, 1", 100)).await;
    let place = market.live(&feed).await[0].1.place.as_option().cloned().unwrap_or_default();
    let kazan = Builtin::new(Arc::clone(&PLACES)).find_now("Казань", Hints::default()).unwrap();
    assert_eq!(place.place_id, kazan.place_id);

    streets.0.store(true, Ordering::SeqCst);
    let load = market.load(&feed, &sofa_at("Проспект, 1", 90)).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.postponed, counts.removed, counts.rejected), (1, 0, 0));
    assert_eq!(load.problems_by_code.get("place_later"), Some(&1));
    assert_eq!(market.live(&feed).await.len(), 1, "it stays as it was");

    streets.0.store(false, Ordering::SeqCst);
    let load = market.load(&feed, &sofa_at("Проспект, 1", 90)).await;
    assert_eq!(load.counts.as_option().unwrap().changed, 1);
    market.stop().await;
}
