//! Measures the resizing of photos: 12 MP JPEGs to four sizes, beside the fastest way of
//! `ImageMagick` to the same sizes, on as many cores.
//!
//! The photos are generated: gradients, shapes and the noise of a sensor, about 3 MB each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ::photos::{Config, ImagePool};
use anyhow::Context as _;
use bytes::Bytes;
use futures::StreamExt as _;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use serde::{Deserialize, Serialize};

use super::options::StagesBench;
use super::report::Report;
use crate::data::mix;
use crate::figure::Figure;
use crate::machine::usage;
use crate::process::{answer, last_line};
use crate::processor::peak_mb;

const WIDTH: u32 = 4000;
const HEIGHT: u32 = 3000;
/// Different photos; the rest are repeated.
const DIFFERENT: u64 = 8;
/// The binary of Debian's package; a `magick` built elsewhere may be slower or faster.
const CONVERT: &str = "/usr/bin/convert";

/// The output of the process that resizes photos.
#[derive(Serialize, Deserialize)]
struct Made {
    per_s: f64,
    cpu_ms: f64,
    rss_mb: f64,
}

pub(super) async fn measure(args: &StagesBench, report: &mut Report) -> anyhow::Result<()> {
    let folder = args.run.folder().join("photos");
    std::fs::create_dir_all(&folder).context("cannot make the folder of the photos")?;
    let outcome = measure_in(args, &folder, report).await;
    std::fs::remove_dir_all(&folder).context("cannot remove the folder of the photos")?;
    outcome
}

async fn measure_in(args: &StagesBench, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    for seed in 0..DIFFERENT {
        std::fs::write(folder.join(format!("{seed}.jpg")), photo(seed).await?)?;
    }
    let Made { per_s, cpu_ms, rss_mb } = by_torg(args).await?;
    report.photos_per_s = Figure::of(per_s);
    report.photos_cpu_ms = Figure::of(cpu_ms);
    report.photos_rss_mb = Figure::of(rss_mb);
    args.run.say(&format!(
        "  photos           {per_s:>9.2} /s on {} cores, 12 MP to 4 sizes, {cpu_ms:.0} ms of processor each; at most {rss_mb:.0} MiB",
        cores()
    ));
    if !Path::new(CONVERT).exists() {
        args.run.say(&format!(
            "  SKIPPED: ImageMagick, {CONVERT} is not there (Debian: apt-get install imagemagick)"
        ));
        return Ok(());
    }
    let jobs = jobs(args);
    let mut best = (0.0, "");
    for (name, arguments) in ways() {
        let took = by_imagemagick(&jobs, arguments, folder)?;
        let theirs = jobs.len() as f64 / took.as_secs_f64();
        args.run.say(&format!("    convert        {theirs:>9.2} /s   ratio {:.2}   {name}", per_s / theirs));
        if theirs > best.0 {
            best = (theirs, name);
        }
    }
    report.imagemagick_per_s = Figure::of(best.0);
    report.imagemagick_way = Some(best.1.to_owned());
    report.ratio_imagemagick = report.photos_per_s.over(report.imagemagick_per_s);
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn jobs(args: &StagesBench) -> Vec<PathBuf> {
    let folder = args.run.folder().join("photos");
    (0..args.photos).map(|n| folder.join(format!("{}.jpg", n % DIFFERENT))).collect()
}

/// In a separate process, so that its memory is that of the photos.
async fn by_torg(args: &StagesBench) -> anyhow::Result<Made> {
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    let (photos, store) = (args.photos.to_string(), format!("fjall:{}", args.run.folder().display()));
    command.args(["stages", "--child", "photos", "--photos", &photos, "--store", &store]);
    let output = command.stderr(Stdio::inherit()).kill_on_drop(true).output().await?;
    anyhow::ensure!(output.status.success(), "the process for photos failed: {}", output.status);
    last_line(&output.stdout).context("the process for photos gave no answer")
}

/// Reads each file and makes its sizes.
pub(super) async fn in_child(args: &StagesBench) -> anyhow::Result<()> {
    let (jobs, pool) =
        (jobs(args), ImagePool::new(Arc::new(Config { workers: cores(), ..Config::default() })));
    let (start, (cpu, _)) = (Instant::now(), usage());
    let work = jobs.iter().map(|path| {
        let pool = pool.clone();
        async move {
            let made = pool.make(Bytes::from(tokio::fs::read(path).await?)).await?;
            anyhow::Ok(made.sizes.len())
        }
    });
    let mut made = futures::stream::iter(work).buffer_unordered(cores() + 1);
    while let Some(sizes) = made.next().await {
        anyhow::ensure!(sizes? == Config::default().sizes.len(), "a size is missing");
    }
    let per_s = jobs.len() as f64 / start.elapsed().as_secs_f64();
    let cpu_ms = (usage().0 - cpu) * 1e3 / jobs.len() as f64;
    answer(&Made { per_s, cpu_ms, rss_mb: peak_mb(std::process::id()).unwrap_or_default() })
}

/// Ways to do the same with `ImageMagick`. `IN` and `OUT` are placeholders.
fn ways() -> [(&'static str, &'static str); 3] {
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

/// As many processes at a time as there are cores, each with one thread: this is the fastest way
/// through many files.
fn by_imagemagick(jobs: &[PathBuf], arguments: &str, folder: &Path) -> anyhow::Result<Duration> {
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores())
            .map(|core| {
                let next = &next;
                scope.spawn(move || {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        convert(job, &folder.join(format!("out{core}")), arguments)?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(anyhow::Error::msg("a thread for convert ended")))
        })
    })?;
    Ok(start.elapsed())
}

fn convert(photo: &Path, out: &Path, arguments: &str) -> anyhow::Result<()> {
    let (photo, out) = (photo.to_string_lossy(), out.to_string_lossy());
    let filled = arguments.split_whitespace().map(|word| match word {
        "IN" => photo.to_string(),
        word => word.replace("OUT", &out),
    });
    let status = Command::new(CONVERT).env("MAGICK_THREAD_LIMIT", "1").args(filled).status()?;
    anyhow::ensure!(status.success(), "convert failed: {status}");
    Ok(())
}

/// A picture with gradients, shapes and noise, as a JPEG of a camera's quality.
async fn photo(seed: u64) -> anyhow::Result<Vec<u8>> {
    let mut pixels = Vec::with_capacity(WIDTH as usize * HEIGHT as usize * 3);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let (right, down) = (x as f32 / WIDTH as f32, y as f32 / HEIGHT as f32);
            let wave = (right * (30.0 + seed as f32)).sin() * (down * 24.0).cos() * 40.0;
            let shape = ((x / 97 + y / 61 + seed as u32) % 5) as f32 * 12.0;
            let noise = (mix(seed << 32 | u64::from(y * WIDTH + x)) & 15) as f32 - 8.0;
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
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Sub).write_image(
        &pixels,
        WIDTH,
        HEIGHT,
        ExtendedColorType::Rgb8,
    )?;
    drop(pixels);
    let camera = Config { sizes: vec![WIDTH], quality: 90, ..Config::default() };
    let made = ImagePool::new(Arc::new(camera)).make(png.into()).await?;
    Ok(made.sizes.into_iter().next().context("the camera made nothing")?.file)
}
