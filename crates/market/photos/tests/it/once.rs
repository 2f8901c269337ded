//! Nothing is fetched or stored twice.

use futures::future::join_all;
use image::ImageFormat;
use object_store::ObjectStoreExt;
use photos::Config;

use crate::studio::{NOW, Studio, file, scene};

pub(crate) async fn a_url_is_fetched_once(studio: Studio) {
    studio.site.file("/a.jpg", &file(&scene(900, 600, 1), ImageFormat::Jpeg));
    let photo = studio.photos.take("http://example.com/a.jpg", NOW).await.unwrap();
    assert_eq!((photo.width, photo.height, &*photo.kind), (900, 600, "JPEG"));
    let sizes: Vec<_> = photo.sizes.iter().map(|size| (size.side, size.width, size.height)).collect();
    assert_eq!(sizes, [(1600, 900, 600), (800, 800, 533), (320, 320, 213), (120, 120, 80)]);
    let again = studio.photos.take(" HTTP://EXAMPLE.com:80/a.jpg#top", NOW + 5).await.unwrap();
    assert_eq!(again, photo);
    assert_eq!(studio.site.requests(), 1);
    assert_eq!(studio.photos.photo(&photo.hash).await.unwrap().as_ref(), Some(&photo));
    assert_eq!(photo.at_least(300).unwrap().side, 320);
    assert_eq!(photo.at_least(5000).unwrap().side, 1600);
}

pub(crate) async fn many_callers_at_once_cause_one_fetch(studio: Studio) {
    studio.site.file("/a.jpg", &file(&scene(400, 300, 1), ImageFormat::Jpeg));
    let calls = (0..10).map(|_| studio.photos.take("http://example.com/a.jpg", NOW));
    let taken = join_all(calls).await;
    assert!(taken.iter().all(|photo| photo.as_ref().unwrap() == taken[0].as_ref().unwrap()));
    assert_eq!(studio.site.requests(), 1);
}

pub(crate) async fn the_same_bytes_are_stored_once_whatever_their_url(studio: Studio) {
    let bytes = file(&scene(400, 300, 1), ImageFormat::Png);
    for path in ["/a", "/b", "/c"] {
        studio.site.file(path, &bytes);
    }
    let urls = ["http://example.com/a", "http://example.com/b", "http://other.org/c"];
    let taken = join_all(urls.map(|url| studio.photos.take(url, NOW))).await;
    assert!(taken.iter().all(|photo| photo.as_ref().unwrap() == taken[0].as_ref().unwrap()));
    let photo = taken[0].as_ref().unwrap();
    let mut files = studio.files().await;
    files.sort();
    let mut named: Vec<_> = photo.sizes.iter().map(|size| size.path.clone()).collect();
    named.sort();
    named.dedup();
    assert_eq!(files, named, "three files: the two sizes larger than the photo share one");
    assert_eq!(files.len(), 3);
    studio.photos.files().delete(&files[0].as_str().into()).await.unwrap();
    studio.site.file("/d", &bytes);
    assert_eq!(&studio.photos.take("http://example.com/d", NOW).await.unwrap(), photo);
    assert_eq!(studio.files().await.len(), 2, "nothing was written again");
}

pub(crate) async fn other_sizes_are_made_when_the_configuration_changes(studio: Studio) {
    let url = "http://example.com/a.jpg";
    studio.site.file("/a.jpg", &file(&scene(400, 300, 1), ImageFormat::Jpeg));
    let before = studio.photos.take(url, NOW).await.unwrap();
    let other = studio.configured(Config { sizes: vec![200, 50], ..Config::default() });
    let after = other.take(url, NOW + 1).await.unwrap();
    assert_eq!(after.hash, before.hash);
    assert_eq!(after.taken_ms, before.taken_ms);
    assert_eq!(after.sizes.iter().map(|size| size.width).collect::<Vec<_>>(), [200, 50]);
    assert!(after.sizes.iter().all(|new| before.sizes.iter().all(|old| old.path != new.path)));
    assert_eq!(other.take(url, NOW + 2).await.unwrap(), after);
    assert_eq!(studio.site.requests(), 2);
}

pub(crate) async fn a_slow_host_is_asked_for_few_at_a_time_and_holds_up_no_other(studio: Studio) {
    let picture = file(&scene(100, 80, 1), ImageFormat::Jpeg);
    for n in 0..6 {
        studio.site.held(&format!("/slow-{n}.jpg"), &picture);
    }
    studio.site.file("/quick.jpg", &picture);
    let photos =
        studio.configured(Config { downloads_max: 3, downloads_per_host_max: 2, ..Config::default() });
    let slow = (0..6).map(|n| {
        let photos = photos.clone();
        tokio::spawn(async move { photos.take(&format!("http://slow.example/slow-{n}.jpg"), NOW).await })
    });
    let slow: Vec<_> = slow.collect();
    while studio.site.requests() < 2 {
        tokio::task::yield_now().await;
    }
    // Four wait for their host: were they counted among the downloads, none of another would begin.
    photos.take("http://quick.example/quick.jpg", NOW).await.unwrap();
    assert_eq!(studio.site.requests(), 3, "two of the slow host, and the quick one");
    studio.site.let_go();
    for taken in join_all(slow).await {
        taken.unwrap().unwrap();
    }
    assert_eq!(studio.site.requests(), 7);
}
