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
    let packed = packed.finish().unwrap();
    chunks(&[(b"IHDR", &head), (b"IDAT", &packed), (b"IEND", &[])])
}

/// A small PNG with a colour profile of so many megabytes of zeros.
#[allow(dead_code, reason = "not every test that shares this file has use for it")]
pub(crate) fn png_with_profile(megabytes: usize) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(b"name\0\0".to_vec(), Compression::fast());
    for _ in 0..megabytes {
        packed.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let profile = packed.finish().unwrap();
    let small = png(64, 64);
    let after_head = 8 + 25;
    let mut bytes = small[..after_head].to_vec();
    bytes.extend_from_slice(&chunks(&[(b"iCCP", &profile)])[8..]);
    bytes.extend_from_slice(&small[after_head..]);
    bytes
}

fn chunks(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in chunks {
        png.extend_from_slice(&(content.len() as u32).to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(*name);
        sum.update(content);
        png.extend_from_slice(*name);
        png.extend_from_slice(content);
        png.extend_from_slice(&sum.sum().to_be_bytes());
    }
    png
}
