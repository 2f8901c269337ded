//! Photos that offers link to.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use image::{ImageFormat, Rgb, RgbImage};
use photos::BestFirst;
use stages::{OrderPhotos, PhotosConfig, TakePhotos};
use watcher::{Lane, Waits};
use wire::torg::offers::v1::Offer;

use crate::ground::Ground;
use crate::market::Market;
use crate::shop::{bike, catalogue, pictured};

async fn open(ground: &Ground) -> Market<'_> {
    let take = TakePhotos::new(ground.photos.clone(), PhotosConfig::default());
    let order = OrderPhotos::new(ground.photos.clone(), Arc::new(BestFirst::default()));
    Market::open(ground, catalogue(), vec![Arc::new(take), Arc::new(order)]).await
}

/// A picture with large patches, by which it is told from others, and small squares, which make it
/// sharp.
pub(crate) fn scene(width: u32, height: u32, seed: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let (column, row) = (x * 6 / width, y * 6 / height);
        let patch = ((column + 7 * row + 49 * seed).wrapping_mul(2_654_435_761) >> 16) % 11 * 18;
        let square = if (x / 8 + y / 8).is_multiple_of(2) { 40 } else { 0 };
        Rgb([patch + square, patch + 10, square + 20].map(|value| value as u8))
    })
}

pub(crate) fn file(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

pub(crate) fn url(name: &str) -> String {
    format!("http://photos.example.com/{name}")
}

fn are_taken(offer: &Offer) -> bool {
    offer.photos.iter().all(|photo| !photo.sizes.is_empty())
}

pub(crate) async fn photos_are_taken_once_and_then_put_into_order(ground: Ground) {
    let sharp = scene(400, 300, 1);
    let blurred = image::imageops::blur(&scene(400, 300, 2), 6.0);
    let double = image::imageops::resize(&sharp, 200, 150, image::imageops::FilterType::Triangle);
    for (name, picture) in
        [("double", &double), ("blurred", &blurred), ("sharp", &sharp), ("other", &scene(600, 450, 5))]
    {
        ground.site.says(&format!("/{name}"), "200 OK", &file(picture));
    }
    let urls = ["double", "blurred", "sharp", "other"].map(url);
    let linked = pictured(bike(100), &urls.each_ref().map(|url| &**url));
    let market = open(&ground).await;
    let id = market.publish(&linked).await;
    let offer = market.eventually("all are in order", id, |offer| !offer.photo_order.is_empty()).await;
    assert_eq!(offer.photo_order, [3, 2, 1, 0], "the double of a better one stands last");
    let sizes: Vec<_> = offer.photos.iter().map(|photo| (photo.width, photo.height)).collect();
    assert_eq!(sizes, [(200, 150), (400, 300), (400, 300), (600, 450)]);
    for photo in &offer.photos {
        assert_eq!((photo.sizes.len(), photo.hash.len(), photo.problem.is_set()), (4, 64, false));
        for place in photo.sizes.values() {
            let served = ground.photos.serve(place.strip_prefix("/photos/").unwrap(), None).await.unwrap();
            assert!(!served.bytes.unwrap().is_empty());
        }
    }
    assert_eq!(ground.site.asked().len(), 4);

    let again = market.publish(&linked).await;
    let same = market.eventually("all are in order", again, |offer| !offer.photo_order.is_empty()).await;
    assert_eq!((&same.photos, &same.photo_order), (&offer.photos, &offer.photo_order));
    assert_eq!(ground.site.asked().len(), 4, "what was taken is not fetched again");
    assert_eq!(market.settled(id).await.version, offer.version);
    market.close().await;
}

pub(crate) async fn a_photo_that_fails_for_now_is_tried_again_and_one_that_fails_for_good_is_not(
    ground: Ground,
) {
    ground.site.says("/good", "200 OK", &file(&scene(400, 300, 1)));
    ground.site.says("/busy", "503 Busy", b"");
    let urls = ["good", "busy", "missing"].map(url);
    let market = open(&ground).await;
    let id = market.publish(&pictured(bike(100), &urls.each_ref().map(|url| &**url))).await;
    let offer = market.eventually("problems are told", id, |offer| offer.photos[2].problem.is_set()).await;
    let problems = offer.photos.iter().map(|photo| photo.problem.as_option().map(|problem| problem.passing));
    assert_eq!(problems.collect::<Vec<_>>(), [None, Some(true), Some(false)]);
    assert!(offer.photos[1].problem.text.contains("503"), "{}", offer.photos[1].problem.text);
    let settled = market.settled(id).await;
    assert!(settled.photo_order.is_empty(), "one is not settled yet");
    let Waits::Until(next, Lane::Timer) = market.standing(id, "photos").await.waits else {
        panic!("it waits")
    };
    assert!(next.since(ground.now()) >= Duration::from_secs(60));

    ground.site.says("/busy", "200 OK", &file(&scene(500, 400, 5)));
    ground.pass(next.since(ground.now()));
    let offer = market.eventually("it is in order", id, |offer| !offer.photo_order.is_empty()).await;
    assert!(!offer.photos[1].problem.is_set() && offer.photos[1].width == 500);
    let mut order = offer.photo_order.clone();
    order.sort_unstable();
    assert_eq!(order, [0, 1], "what cannot be shown has no place");
    assert_eq!(ground.site.asked().iter().filter(|asked| *asked == "GET /missing").count(), 1);
    assert_eq!(market.standing(id, "photos").await.waits, Waits::NotInterested);
    market.close().await;
}

pub(crate) async fn only_the_photo_that_is_new_is_fetched(ground: Ground) {
    for (name, seed) in [("a", 1), ("b", 2), ("c", 5)] {
        ground.site.says(&format!("/{name}"), "200 OK", &file(&scene(400, 300, seed)));
    }
    let market = open(&ground).await;
    let id = market.publish(&pictured(bike(100), &[&url("a"), &url("b")])).await;
    let before = market.eventually("all are taken", id, |offer| offer.photo_order.len() == 2).await;
    assert!(are_taken(&before));
    market
        .change(id, |offer| {
            // The list is another one; what is known of the second photo stays, as it does for
            // sellers.
            offer.photos = vec![offer.photos[1].clone(), pictured(bike(1), &[&url("c")]).photos[0].clone()];
            offer.photo_order.clear();
        })
        .await;
    let after = market
        .eventually("the new one is taken", id, |offer| are_taken(offer) && offer.photo_order.len() == 2)
        .await;
    assert_eq!(after.photos[0], before.photos[1]);
    let mut asked = ground.site.asked();
    asked.sort();
    assert_eq!(asked, ["GET /a", "GET /b", "GET /c"]);
    market.change(id, |offer| offer.photos.clear()).await;
    market.eventually("no photos have no order", id, |offer| offer.photo_order.is_empty()).await;
    market.close().await;
}
