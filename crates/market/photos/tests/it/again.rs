//! Looking again at photos that were taken.

use image::ImageFormat;

use crate::studio::{NOW, Studio, file, refused, scene};

const URL: &str = "http://example.com/a.jpg";

pub(crate) async fn an_unchanged_photo_is_confirmed_and_a_changed_one_is_taken(studio: Studio) {
    studio.site.says("/a.jpg", "200 OK\r\nETag: \"one\"", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    let first = studio.photos.take(URL, NOW).await.unwrap();
    studio.site.says("/a.jpg", "304 Not Modified", b"");
    assert_eq!(studio.photos.check_again(URL, NOW + 1).await.unwrap(), first);
    assert!(studio.site.last_head().contains("if-none-match: \"one\""));
    studio.site.says("/a.jpg", "200 OK\r\nETag: \"two\"", &file(&scene(200, 100, 2), ImageFormat::Jpeg));
    let second = studio.photos.check_again(URL, NOW + 2).await.unwrap();
    assert_ne!(second.hash, first.hash);
    assert_eq!(studio.photos.take(URL, NOW + 3).await.unwrap(), second);
    assert_eq!(studio.photos.photo(&first.hash).await.unwrap(), Some(first), "others may show it");
}

pub(crate) async fn a_check_that_fails_leaves_the_photo(studio: Studio) {
    studio.site.file("/a.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    let photo = studio.photos.take(URL, NOW).await.unwrap();
    studio.site.says("/a.jpg", "404 Not Found", b"");
    assert_eq!(refused(studio.photos.check_again(URL, NOW + 1).await).code, "status");
    assert_eq!(studio.photos.take(URL, NOW + 2).await.unwrap(), photo);
    assert_eq!(studio.photos.errors_of(&[URL]).await.unwrap()[0].as_ref().unwrap().tries, 1);
    studio.site.file("/a.jpg", &file(&scene(200, 100, 1), ImageFormat::Jpeg));
    studio.photos.check_again(URL, NOW + 3).await.unwrap();
    assert_eq!(studio.photos.errors_of(&[URL]).await.unwrap(), [None]);
}
