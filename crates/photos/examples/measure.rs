//! Measures photos against `ImageMagick`: 12 MP JPEGs to four sizes, images a second on two cores, and the peak of memory.
//!
//! `cargo run --release -p photos --example measure [IMAGES]`. `ImageMagick` is Debian's package `imagemagick`; without it only our own
//! figure is printed. The photos are made here: gradients, shapes and the noise of a sensor, about 3 MB each.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made ends")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use photos::{Config, Workshop};
use tokio::time::Instant;

const CORES: usize = 2;
const WIDTH: u32 = 4000;
const HEIGHT: u32 = 3000;

#[tokio::main]
async fn main() {
    let count: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(24);
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for seed in 0..count.min(8) {
        let path = folder.path().join(format!("{seed}.jpg"));
        std::fs::write(&path, photo(seed as u64 + 1).await).unwrap();
        paths.push(path);
    }
    let bytes: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
    println!("{} photos of {WIDTH} x {HEIGHT}, {} KB each", paths.len(), bytes / paths.len() as u64 / 1024);
    let jobs: Vec<PathBuf> = paths.iter().cycle().take(count).cloned().collect();
    let (before, _) = processor_ticks();
    let ours = torg(&jobs).await;
    let cost = (processor_ticks().0 - before) * TICK_MS / count as u64;
    println!("torg: {ours:.2} images/s on {CORES} cores, {cost} ms of processor time an image");
    println!("peak RSS {} MB, the making of the test photos included", peak_mb());
    let Some(convert) = imagemagick() else {
        println!("SKIPPED ImageMagick: /usr/bin/convert is not there (apt-get install imagemagick)");
        return;
    };
    let mut best = 0.0_f64;
    for (name, arguments) in variants() {
        let (_, before) = processor_ticks();
        let theirs = peer(&convert, &jobs, arguments, folder.path());
        let cost = (processor_ticks().1 - before) * TICK_MS / count as u64;
        println!("convert, {name}: {theirs:.2} images/s, {cost} ms an image, ratio {:.2}", ours / theirs);
        best = best.max(theirs);
    }
    println!("ratio to the fastest of them: {:.2}", ours / best);
}

/// Linux counts a process's time in hundredths of a second.
const TICK_MS: u64 = 10;

/// The processor time of this process and of the processes that it waited for.
fn processor_ticks() -> (u64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks: Vec<u64> =
        after_name.split_whitespace().skip(11).take(4).map(|field| field.parse().unwrap()).collect();
    (ticks[0] + ticks[1], ticks[2] + ticks[3])
}

/// A picture with gradients, shapes and noise, as a JPEG of a camera's quality.
async fn photo(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut pixels = Vec::with_capacity(WIDTH as usize * HEIGHT as usize * 3);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let (right, down) = (x as f32 / WIDTH as f32, y as f32 / HEIGHT as f32);
            let wave = (right * (30.0 + seed as f32)).sin() * (down * 24.0).cos() * 40.0;
            let shape = ((x / 97 + y / 61 + seed as u32) % 5) as f32 * 12.0;
            let noise = (state & 15) as f32 - 8.0;
            let light = wave + shape + noise;
            let value = |base: f32| (base + light).clamp(0.0, 255.0) as u8;
            pixels.extend([
                value(60.0 + 120.0 * right),
                value(90.0 + 90.0 * down),
                value(150.0 - 80.0 * right * down),
            ]);
        }
    }
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Sub)
        .write_image(&pixels, WIDTH, HEIGHT, ExtendedColorType::Rgb8)
        .unwrap();
    drop(pixels);
    let camera = Config { sizes: vec![WIDTH], quality: 90, ..Config::default() };
    let made = Workshop::new(Arc::new(camera)).make(png.into()).await.unwrap();
    made.sizes.into_iter().next().unwrap().file
}

/// Reads each file and makes its sizes.
async fn torg(jobs: &[PathBuf]) -> f64 {
    let workshop = Workshop::new(Arc::new(Config { workers: CORES, ..Config::default() }));
    let began = Instant::now();
    let work = jobs.iter().map(|path| {
        let workshop = workshop.clone();
        async move {
            let bytes = Bytes::from(tokio::fs::read(path).await.unwrap());
            workshop.make(bytes).await.unwrap().sizes.len()
        }
    });
    let sizes: usize =
        futures::stream::iter(work).buffer_unordered(CORES + 1).fold(0, async |all, one| all + one).await;
    assert_eq!(sizes, jobs.len() * Config::default().sizes.len());
    jobs.len() as f64 / began.elapsed().as_secs_f64()
}

fn imagemagick() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/bin/convert");
    path.exists().then_some(path)
}

/// Ways to do the same with `ImageMagick`. `IN` and `OUT` are filled in.
fn variants() -> [(&'static str, &'static str); 3] {
    [
        (
            "each size from the photo",
            "IN -auto-orient -strip -quality 82 -write mpr:o +delete \
             ( mpr:o -resize 1600x1600 -write OUT-1600.jpg +delete ) ( mpr:o -resize 800x800 -write OUT-800.jpg +delete ) \
             ( mpr:o -resize 320x320 -write OUT-320.jpg +delete ) mpr:o -resize 120x120 OUT-120.jpg",
        ),
        (
            "each size from the next larger one",
            "IN -auto-orient -strip -quality 82 -resize 1600x1600 -write OUT-1600.jpg -resize 800x800 -write OUT-800.jpg \
             -resize 320x320 -write OUT-320.jpg -resize 120x120 OUT-120.jpg",
        ),
        (
            "the same, and told beforehand how large it has to be",
            "-define jpeg:size=1600x1600 IN -auto-orient -strip -quality 82 -resize 1600x1600 -write OUT-1600.jpg \
             -resize 800x800 -write OUT-800.jpg -resize 320x320 -write OUT-320.jpg -resize 120x120 OUT-120.jpg",
        ),
    ]
}

/// As many processes at a time as there are cores, each with one thread: that is its fastest way through many files.
fn peer(convert: &Path, jobs: &[PathBuf], arguments: &str, folder: &Path) -> f64 {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for core in 0..CORES {
            let next = &next;
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let out = folder.join(format!("out{core}"));
                    let filled = arguments.split_whitespace().map(|word| {
                        word.replace("IN", job.to_str().unwrap()).replace("OUT", out.to_str().unwrap())
                    });
                    let status =
                        Command::new(convert).env("MAGICK_THREAD_LIMIT", "1").args(filled).status().unwrap();
                    assert!(status.success());
                }
            });
        }
    });
    jobs.len() as f64 / began.elapsed().as_secs_f64()
}

/// The most memory that this process ever held.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or_default() / 1024
}
