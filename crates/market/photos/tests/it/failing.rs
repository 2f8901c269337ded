//! URLs that fail, and when they are tried again.

use std::sync::Arc;

use fetch::{Client, Rules};
use image::ImageFormat;
use photos::{Config, PhotoError, Photos, files};

use crate::studio::{NOW, Studio, file, refused, scene};

const URL: &str = "http://example.com/a.jpg";

pub(crate) async fn passing_errors_are_tried_again_after_growing_pauses(studio: Studio) {
    studio.site.says("/a.jpg", "503 Busy", b"");
    let (mut now, mut pauses) = (NOW, Vec::new());
    for tries in 1.. {
        let error = refused(studio.photos.take(URL, now).await);
        assert_eq!((error.tries, &*error.code, error.first_ms), (tries, "status", NOW));
        assert!(error.message.contains("503"), "{}", error.message);
        let too_early = studio.photos.take(URL, error.next_try_ms.unwrap_or(i64::MAX) - 1).await.unwrap_err();
        assert_eq!(too_early.is_passing(), error.next_try_ms.is_some());
        assert_eq!(studio.site.requests() as u32, tries, "nobody asks before the time");
        let Some(next) = error.next_try_ms else { break };
        pauses.push(next - now);
        now = next;
    }
    assert_eq!(pauses.len(), Config::default().tries_max as usize - 1);
    assert!(pauses.windows(2).all(|pair| pair[1] >= 2 * pair[0] - 100), "{pauses:?}");
    studio.photos.forget(URL).await.unwrap();
    studio.site.file("/a.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    studio.photos.take(URL, now).await.unwrap();
    assert_eq!(studio.photos.errors_of(&[URL]).await.unwrap(), [None]);
}

pub(crate) async fn lasting_errors_are_not_tried_again_until_they_are_forgotten(studio: Studio) {
    let error = studio.refusal(URL).await;
    assert_eq!((&*error.code, error.next_try_ms), ("status", None));
    studio.site.file("/a.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    let later = NOW + 365 * 24 * 3_600_000;
    assert_eq!(refused(studio.photos.take(URL, later).await), error);
    assert_eq!(studio.site.requests(), 1);
    studio.photos.take("http://example.com/a.jpg?v=2", later).await.unwrap_err();
    studio.photos.forget(URL).await.unwrap();
    studio.photos.take(URL, later).await.unwrap();
}

pub(crate) async fn errors_are_found_by_url_and_page_by_page(studio: Studio) {
    studio.site.file("/good.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    let good = "http://example.com/good.jpg";
    studio.photos.take(good, NOW).await.unwrap();
    let bad: Vec<String> = (0..7).map(|n| format!("http://example.com/{n}.jpg")).collect();
    for url in &bad {
        studio.refusal(url).await;
    }
    let asked = [&*bad[3], good, "http://example.com/never.jpg", "no url", &bad[0]];
    let found = studio.photos.errors_of(&asked).await.unwrap();
    let urls: Vec<_> = found.iter().map(|error| error.as_ref().map(|error| &*error.url)).collect();
    assert_eq!(urls, [Some(&*bad[3]), None, None, None, Some(&bad[0])]);
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (page, next) = studio.photos.errors(after, 3).await.unwrap();
        assert!(page.len() <= 3);
        all.extend(page.into_iter().map(|error| error.url));
        after = next;
        if after.is_none() {
            break;
        }
    }
    all.sort();
    assert_eq!(all, bad);
}

pub(crate) async fn a_full_disk_is_not_the_urls_fault(studio: Studio) {
    studio.site.file("/a.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("files");
    let broken = files::open(&format!("file:{}", place.display())).unwrap();
    // A file where the folder should be: nothing can be written below it.
    std::fs::remove_dir(&place).unwrap();
    std::fs::write(&place, b"").unwrap();
    let client = Client::over(Arc::new(studio.site.clone()), Rules::default());
    let unlucky = Photos::new(studio.store.clone(), broken, client, Config::default());
    let error = unlucky.take(URL, NOW).await.unwrap_err();
    assert!(matches!(error, PhotoError::Files(_)) && error.is_passing(), "{error}");
    assert_eq!(unlucky.errors_of(&[URL]).await.unwrap(), [None]);
    studio.photos.take(URL, NOW).await.unwrap();
}
