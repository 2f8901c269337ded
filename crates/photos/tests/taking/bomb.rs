//! Pictures that are small as files and large in memory.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A PNG of zeros whose head says that it is so large; it really is.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; width as usize * 3 + 1];
    for _ in 0..height {
        packed.write_all(&row).unwrap();
    }
    let mut head = Vec::new();
    head.extend_from_slice(&width.to_be_bytes());
    head.extend_from_slice(&height.to_be_bytes());
    head.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", &head), (b"IDAT", &packed.finish().unwrap()), (b"IEND", &Vec::new())] {
        png.extend_from_slice(&(content.len() as u32).to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(content);
        png.extend_from_slice(name);
        png.extend_from_slice(content);
        png.extend_from_slice(&sum.sum().to_be_bytes());
    }
    png
}
