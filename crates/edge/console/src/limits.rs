//! All limits of the console.

use std::time::Duration;

/// The largest form, but for those with a file.
pub const FORM_BYTES_MAX: usize = 256 * 1024;
/// The largest form with which somebody signs in: an API key, or a token of 16 KiB.
pub const SIGN_IN_BYTES_MAX: usize = 20 * 1024;
/// Such forms that are read at the same time: nobody knows yet who sends them. Together they hold some 10 MiB at most.
pub const SIGN_INS_MAX: usize = 512;
/// Those of them that one address may send: whoever sends forms that never end keeps themselves out, and nobody else.
pub const SIGN_INS_OF_ONE_MAX: usize = 8;
/// How long such a form may take to come: it is small.
pub const SIGN_IN_TIME_MAX: Duration = Duration::from_secs(3);
/// The largest answer of a service that is read.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a page waits for a service before it says that there is no answer. With [`GATE_TIME_MAX`] and the time between two looks ([`LOOK_EVERY`]) it is the
/// time in which an open page tells an outage: 5 s.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(2);
/// How long the gate may take to say who somebody is before they are taken for who they were.
pub const GATE_TIME_MAX: Duration = Duration::from_secs(1);
/// How often an open page looks whether something has changed.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The same for the overview.
pub const LOOK_AT_OVERVIEW_EVERY: Duration = Duration::from_millis(1500);
/// How long the middle of the overview serves others, too: twenty who look cost little more than two.
pub const SHARED_FOR: Duration = Duration::from_millis(500);
/// How long somebody waits for what they have done; it goes on to its end all the same.
pub const ACT_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a form may take to come.
pub const FORM_TIME_MAX: Duration = Duration::from_secs(10);
/// How long somebody stays signed in.
pub const SESSION_TIME_MAX: Duration = Duration::from_secs(12 * 3600);
/// How often a session notes that its key was found good.
pub const CHECK_KEPT_EVERY: Duration = Duration::from_secs(300);
/// The longest cookie: browsers drop longer ones without a word.
pub const COOKIE_BYTES_MAX: usize = 3800;
/// How long after its key was found good somebody is known, to look only, while the store cannot say whether it still holds.
pub const UNCHECKED_TIME_MAX: Duration = Duration::from_secs(3600);
/// The longest message from one page to the next.
pub const NOTICE_CHARS_MAX: usize = 700;
/// The longest text of a cell in a table; longer ones are folded behind so much of them.
pub const CELL_CHARS_MAX: usize = 400;
/// The longest text that is folded whole.
pub const LONG_CHARS_MAX: usize = 20_000;
/// What is shown of a message in a topic.
pub const MESSAGE_CHARS_MAX: usize = 3000;
/// The longest token of a form.
pub const TOKEN_BYTES_MAX: u64 = 1024;
/// What is read of a form until its file begins, with what of the file comes along: browsers send pieces of any size.
pub const UPLOAD_FIELDS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long a form with a file may take until the file begins.
pub const UPLOAD_BEGIN_TIME_MAX: Duration = Duration::from_secs(30);
/// How long the rest of a file that is refused is taken in, so that the browser hears why.
pub const UPLOAD_END_TIME_MAX: Duration = Duration::from_secs(30);
/// Tasks that are looked at to count and to draw them; asked for in pages.
pub const TASKS_LOOKED_AT_MAX: usize = 5000;
/// The same for pages that look again every other second.
pub const TASKS_FOLLOWED_MAX: usize = 500;
/// Values and tasks of one picture.
pub const GRAPH_NODES_MAX: usize = 150;
/// The end of a log that is shown.
pub const LOG_TAIL_BYTES: u64 = 64 * 1024;
/// Pieces in which the end of a log is asked for: it has gaps.
pub const LOG_PIECES_MAX: usize = 6;
/// As far as visits that wait are counted for the figures of a stage.
pub const DEPTH_COUNTED_MAX: f64 = 10_000.0;
