//! The hostile set: each refused with its reason, and with no memory taken for it.

use image::ImageFormat;

use crate::bomb;
use crate::studio::{NOW, Studio, file, scene};

/// A JPEG whose head was changed to say that it is so large.
fn lying_jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = file(&scene(64, 64, 1), ImageFormat::Jpeg);
    let frame = bytes.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    bytes[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    bytes[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    bytes
}

pub(crate) async fn each_of_the_hostile_set_is_refused_with_its_reason(studio: Studio) {
    let site = &studio.site;
    let jpeg = file(&scene(800, 600, 1), ImageFormat::Jpeg);
    let png = file(&scene(300, 200, 1), ImageFormat::Png);
    site.file("/bomb.png", &bomb::png(10_000, 10_000));
    site.file("/bomb.jpg", &lying_jpeg(10_000, 10_000));
    site.file("/side.jpg", &lying_jpeg(60_000, 20));
    site.file("/cut.jpg", &jpeg[..jpeg.len() / 2]);
    site.file("/cut.png", &png[..png.len() / 2]);
    site.file("/cut.gif", &file(&scene(300, 200, 1), ImageFormat::Gif)[..2000]);
    site.file("/cut.webp", &file(&scene(300, 200, 1), ImageFormat::WebP)[..500]);
    site.file("/head.jpg", &jpeg[..100]);
    site.file("/page.jpg", b"<!doctype html><html><body>Not found</body></html>");
    site.file(
        "/drawing.svg",
        b"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
    );
    site.file("/empty.jpg", b"");
    site.file("/avif.jpg", b"\0\0\0\x20ftypavif\0\0\0\0avifmif1miaf");
    site.file("/pixel.gif", &file(&scene(1, 1, 1), ImageFormat::Gif));
    site.endless("/endless.jpg", &jpeg[..jpeg.len() - 2]);
    site.says("/inside.jpg", "302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/", b"");
    for step in 0..20 {
        site.says(&format!("/chain{step}"), &format!("302 Found\r\nLocation: /chain{}", step + 1), b"");
    }
    site.name("innocent.example.org", "127.0.0.1");
    let cases = [
        ("http://example.com/bomb.png", "too_many_pixels", "10000 x 10000 pixels"),
        ("http://example.com/bomb.jpg", "too_many_pixels", "10000 x 10000 pixels"),
        ("http://example.com/side.jpg", "too_many_pixels", "60000 x 20 pixels"),
        ("http://example.com/cut.jpg", "truncated_file", "in the middle"),
        ("http://example.com/cut.png", "truncated_file", "in the middle"),
        ("http://example.com/cut.gif", "damaged_file", "Unexpected End of File"),
        ("http://example.com/cut.webp", "damaged_file", "damaged"),
        ("http://example.com/head.jpg", "damaged_file", "damaged"),
        ("http://example.com/page.jpg", "wrong_kind", "a web page"),
        ("http://example.com/drawing.svg", "svg", "PNG or JPEG"),
        ("http://example.com/empty.jpg", "wrong_kind", "empty"),
        ("http://example.com/avif.jpg", "wrong_kind", "AVIF"),
        ("http://example.com/pixel.gif", "too_small", "1 x 1"),
        ("http://example.com/endless.jpg", "too_large", "more than"),
        ("http://example.com/inside.jpg", "private_address", "169.254.169.254"),
        ("http://innocent.example.org/a.jpg", "private_address", "127.0.0.1"),
        ("http://127.0.0.1/a.jpg", "private_address", "loopback"),
        ("http://2130706433/b.jpg", "odd_address", "127.0.0.1"),
        ("http://example.com/chain0", "too_many_redirects", "5 redirects"),
        ("file:///etc/passwd", "scheme", "http or https"),
        ("photo.jpg", "bad_url", "no URL"),
    ];
    let free = studio.photos.pool().free_bytes();
    for (url, code, words) in cases {
        let error = studio.refusal(url).await;
        assert_eq!(error.code, code, "{url}: {}", error.message);
        assert!(error.message.contains(words), "{url}: {}", error.message);
        assert_eq!(error.next_try_ms, None, "{url} does not get better by waiting");
        assert_eq!(studio.photos.errors_of(&[url]).await.unwrap(), [Some(error)]);
        assert_eq!(studio.photos.pool().free_bytes(), free, "{url}");
    }
    assert!(studio.files().await.is_empty(), "nothing of it is stored");
    let inside: Vec<_> =
        site.dialled().into_iter().filter(|address| fetch::forbidden(*address).is_some()).collect();
    assert!(inside.is_empty(), "{inside:?}");
    site.file("/good.jpg", &jpeg);
    studio.photos.take("http://example.com/good.jpg", NOW).await.unwrap();
}
