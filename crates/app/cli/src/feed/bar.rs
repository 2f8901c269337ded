//! A progress bar for reading large files.

use feedfile::Progress;

use terminal::{redraws_on_stderr, remark};

/// Smaller files are read too fast for a bar.
const LARGE_BYTES: u64 = 8 << 20;
/// Width of the bar, in characters.
const WIDTH: u64 = 30;

/// A line on stderr that is redrawn. Draws nothing for small files, or if stderr cannot be redrawn.
pub(super) struct Bar {
    total: Option<u64>,
    /// The progress drawn last, in thousandths.
    drawn: u64,
}

impl Bar {
    pub(super) fn for_input(bytes: Option<u64>) -> Self {
        let total = bytes.filter(|bytes| *bytes >= LARGE_BYTES && redraws_on_stderr());
        Self { total, drawn: 0 }
    }

    pub(super) fn clear(&self) {
        if self.total.is_some() {
            remark("\r\x1b[K");
        }
    }
}

impl Progress for Bar {
    fn advance(&mut self, bytes: u64, offers: u64) {
        let Some(total) = self.total else { return };
        let thousandths = bytes.min(total) * 1000 / total;
        if thousandths > self.drawn {
            self.drawn = thousandths;
            remark(format!("\r{}", line(thousandths, offers)));
        }
    }
}

fn line(thousandths: u64, offers: u64) -> String {
    let full = (thousandths * WIDTH / 1000) as usize;
    let bar = "=".repeat(full) + &" ".repeat(WIDTH as usize - full);
    format!("[{bar}] {:>3} %, {offers} offers", thousandths / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_the_share_that_was_read() {
        assert_eq!(line(500, 7), format!("[{}{}]  50 %, 7 offers", "=".repeat(15), " ".repeat(15)));
        assert_eq!(line(1000, 9), format!("[{}] 100 %, 9 offers", "=".repeat(30)));
    }
}
