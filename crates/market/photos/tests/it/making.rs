//! From bytes to sizes: kinds of files, turning, metadata, what is judged.

use std::io::Cursor;
use std::sync::Arc;

use image::{DynamicImage, ImageFormat, Luma, LumaA, Rgb, RgbImage, Rgba};
use photos::{Config, ImagePool, Made, Refusal};

const CMYK: &[u8] = include_bytes!("../files/cmyk.jpg");
const PROGRESSIVE: &[u8] = include_bytes!("../files/progressive.jpg");

async fn make(bytes: Vec<u8>) -> Result<Made, Refusal> {
    ImagePool::new(Arc::new(Config::default())).make(bytes.into()).await
}

fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// The picture of the largest file.
fn shown(made: &Made) -> RgbImage {
    image::load_from_memory_with_format(&made.sizes[0].file, ImageFormat::Jpeg).unwrap().into_rgb8()
}

fn is_near(found: Rgb<u8>, wanted: [u8; 3]) -> bool {
    found.0.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 24)
}

const RED: [u8; 3] = [220, 30, 30];
const GREEN: [u8; 3] = [30, 200, 30];
const BLUE: [u8; 3] = [30, 30, 220];
const WHITE: [u8; 3] = [255, 255, 255];

/// Red, green; blue, white.
fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb(match (x < width / 2, y < height / 2) {
            (true, true) => RED,
            (false, true) => GREEN,
            (true, false) => BLUE,
            (false, false) => WHITE,
        })
    })
}

/// The same JPEG with metadata: which way up it is, and a place that nobody should learn.
fn with_exif(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0]);
    exif.extend_from_slice(b"GPS: the seller's home");
    let mut bytes = jpeg[..2].to_vec();
    bytes.extend_from_slice(&[0xFF, 0xE1]);
    bytes.extend_from_slice(&(exif.len() as u16 + 2).to_be_bytes());
    bytes.extend_from_slice(&exif);
    bytes.extend_from_slice(&jpeg[2..]);
    bytes
}

#[tokio::test]
async fn photos_are_turned_the_right_way_up_and_lose_their_metadata() {
    let jpeg = file(&quarters(2000, 1000).into(), ImageFormat::Jpeg);
    // The corners of the turned picture: top left, top right, bottom left, bottom right.
    let turned = [
        [RED, GREEN, BLUE, WHITE],
        [GREEN, RED, WHITE, BLUE],
        [WHITE, BLUE, GREEN, RED],
        [BLUE, WHITE, RED, GREEN],
        [RED, BLUE, GREEN, WHITE],
        [BLUE, RED, WHITE, GREEN],
        [WHITE, GREEN, BLUE, RED],
        [GREEN, WHITE, RED, BLUE],
    ];
    for (orientation, corners) in (1..).zip(turned) {
        let made = make(with_exif(&jpeg, orientation)).await.unwrap();
        let is_upright = orientation >= 5;
        assert_eq!(
            (made.width, made.height),
            if is_upright { (1000, 2000) } else { (2000, 1000) },
            "{orientation}"
        );
        let sizes: Vec<_> = made.sizes.iter().map(|size| size.width.max(size.height)).collect();
        assert_eq!(sizes, [1600, 800, 320, 120]);
        for size in &made.sizes {
            assert_eq!(size.width < size.height, is_upright);
            assert!(!size.file.windows(4).any(|part| part == b"Exif" || part == b"GPS:"));
        }
        let picture = shown(&made);
        let (right, bottom) = (picture.width() - 50, picture.height() - 50);
        for ((x, y), wanted) in
            [(50, 50), (right, 50), (50, bottom), (right, bottom)].into_iter().zip(corners)
        {
            assert!(is_near(*picture.get_pixel(x, y), wanted), "{orientation}: {x} {y}");
        }
    }
}

#[tokio::test]
async fn every_kind_of_picture_is_taken() {
    let rgb = DynamicImage::from(quarters(300, 200));
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP] {
        let made = make(file(&rgb, format)).await.unwrap();
        let picture = shown(&made);
        assert_eq!(picture.dimensions(), (300, 200), "{format:?}");
        for (x, y, wanted) in [(50, 50, RED), (250, 50, GREEN), (50, 150, BLUE), (250, 150, WHITE)] {
            assert!(is_near(*picture.get_pixel(x, y), wanted), "{format:?} {x} {y}");
        }
    }
    let grey = image::ImageBuffer::from_pixel(64, 64, Luma([100_u8]));
    for bytes in [
        file(&DynamicImage::from(grey.clone()), ImageFormat::Jpeg),
        file(&DynamicImage::from(grey), ImageFormat::Png),
        file(&image::ImageBuffer::from_pixel(64, 64, Luma([100_u16 << 8])).into(), ImageFormat::Png),
        file(&image::ImageBuffer::from_pixel(64, 64, LumaA([100_u8, 255])).into(), ImageFormat::Png),
        file(
            &image::ImageBuffer::from_pixel(64, 64, Rgba([100_u16 << 8, 100 << 8, 100 << 8, 65535])).into(),
            ImageFormat::Png,
        ),
    ] {
        assert!(is_near(*shown(&make(bytes).await.unwrap()).get_pixel(30, 30), [100, 100, 100]));
    }
}

#[tokio::test]
async fn printers_colours_and_pictures_in_several_passes_are_understood() {
    for (name, bytes) in [("cmyk", CMYK), ("progressive", PROGRESSIVE)] {
        let picture = shown(&make(bytes.to_vec()).await.unwrap());
        assert_eq!(picture.dimensions(), (64, 48), "{name}");
        assert!(is_near(*picture.get_pixel(10, 10), [255, 0, 0]), "{name}: {:?}", picture.get_pixel(10, 10));
        assert!(
            is_near(*picture.get_pixel(50, 40), [255, 255, 255]),
            "{name}: {:?}",
            picture.get_pixel(50, 40)
        );
    }
}

#[tokio::test]
async fn what_shines_through_is_white() {
    let clear =
        image::ImageBuffer::from_fn(100, 50, |x, _| Rgba([10_u8, 20, 200, if x < 50 { 255 } else { 0 }]));
    let clear = DynamicImage::from(clear);
    for format in [ImageFormat::Png, ImageFormat::WebP, ImageFormat::Gif] {
        let picture = shown(&make(file(&clear, format)).await.unwrap());
        assert!(is_near(*picture.get_pixel(20, 20), [10, 20, 200]), "{format:?}");
        assert!(is_near(*picture.get_pixel(80, 20), WHITE), "{format:?}");
    }
}

fn scene(width: u32, height: u32, shift: u32) -> DynamicImage {
    let picture = RgbImage::from_fn(width, height, |x, y| {
        let (x, y) = (x * 1000 / width, y * 1000 / height);
        let value = (((x + shift * 170) / 130) * 47 + (y / (110 + shift * 31)) * 83) % 200;
        Rgb([value as u8, (value / 2) as u8, (255 - value) as u8])
    });
    picture.into()
}

fn distance(a: &Made, b: &Made) -> u32 {
    (a.look ^ b.look).count_ones()
}

#[tokio::test]
async fn photos_of_the_same_look_alike_and_others_do_not() {
    let first = make(file(&scene(1200, 900, 0), ImageFormat::Png)).await.unwrap();
    let smaller = make(file(&scene(640, 480, 0), ImageFormat::Jpeg)).await.unwrap();
    let brighter = make(file(&scene(1200, 900, 0).brighten(20), ImageFormat::Jpeg)).await.unwrap();
    let other = make(file(&scene(1200, 900, 1), ImageFormat::Jpeg)).await.unwrap();
    assert!(distance(&first, &smaller) <= photos::limits::SAME_PHOTO_BITS, "{}", distance(&first, &smaller));
    assert!(
        distance(&first, &brighter) <= photos::limits::SAME_PHOTO_BITS,
        "{}",
        distance(&first, &brighter)
    );
    assert!(distance(&first, &other) > 10, "{}", distance(&first, &other));
}

#[tokio::test]
async fn a_blurred_photo_is_less_sharp() {
    let sharp = scene(1000, 800, 0);
    let blurred = DynamicImage::from(image::imageops::fast_blur(&sharp.to_rgb8(), 6.0));
    let sharp = make(file(&sharp, ImageFormat::Png)).await.unwrap();
    let blurred = make(file(&blurred, ImageFormat::Png)).await.unwrap();
    assert!(sharp.sharpness > 5.0 * blurred.sharpness, "{} {}", sharp.sharpness, blurred.sharpness);
    assert_eq!(sharp.colour.len(), 7);
}

#[tokio::test]
async fn the_same_photo_always_becomes_the_same_files() {
    let bytes = file(&scene(1700, 900, 0), ImageFormat::Jpeg);
    assert_eq!(make(bytes.clone()).await.unwrap(), make(bytes).await.unwrap());
}

#[tokio::test]
async fn files_damaged_anywhere_never_cause_a_panic_to_come_through() {
    let pool = ImagePool::new(Arc::new(Config { sizes: vec![64], ..Config::default() }));
    let free = pool.free_bytes();
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP] {
        let good = file(&scene(96, 64, 0), format);
        for at in (0..good.len()).step_by(good.len() / 150 + 1) {
            let mut bad = good.clone();
            bad[at] ^= 0x5A;
            // Some are refused, some are shown with a stain: both are fine.
            let _ = pool.make(bad.into()).await;
        }
    }
    assert_eq!(pool.free_bytes(), free, "all that was reserved was given back");
}

#[tokio::test]
async fn a_picture_that_needs_more_memory_than_there_is_is_refused() {
    let pool = ImagePool::new(Arc::new(Config { memory_bytes: 1 << 20, ..Config::default() }));
    let refusal = pool.make(file(&scene(1000, 800, 0), ImageFormat::Png).into()).await.unwrap_err();
    assert!(matches!(refusal, Refusal::TooMuchMemory { width: 1000, height: 800, .. }), "{refusal}");
}
