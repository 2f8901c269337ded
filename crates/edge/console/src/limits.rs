//! All limits of the console.

use std::time::Duration;

/// The largest form without a file.
pub const FORM_BYTES_MAX: usize = 256 * 1024;
/// The largest sign-in form: an API key, or a token of 16 KiB.
pub const SIGN_IN_BYTES_MAX: usize = 20 * 1024;
/// Sign-in forms that are read at the same time; their senders are not known yet. Together they
/// hold about 10 MiB at most.
pub const SIGN_INS_MAX: usize = 512;
/// The same by address, so that a sender of endless forms blocks only itself.
pub const SIGN_INS_OF_ONE_MAX: usize = 8;
/// The time for a sign-in form to arrive.
pub const SIGN_IN_TIME_MAX: Duration = Duration::from_secs(3);
/// The largest answer of a service.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a page waits for a service. With [`GATE_TIME_MAX`] and the refresh interval
/// ([`LOOK_EVERY`]), an open page shows an outage within 5 s.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(2);
/// How long the gate may take before the last known caller of the session is used.
pub const GATE_TIME_MAX: Duration = Duration::from_secs(1);
/// The refresh interval of an open page.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// The refresh interval of the overview.
pub const OVERVIEW_REFRESH_INTERVAL: Duration = Duration::from_millis(1500);
/// How long a rendered overview is shared, so that twenty viewers cost little more than two.
pub const SHARED_FOR: Duration = Duration::from_millis(500);
/// How long a page waits for an action; the action itself continues.
pub const ACT_TIME_MAX: Duration = Duration::from_secs(30);
/// The time for a form to arrive.
pub const FORM_TIME_MAX: Duration = Duration::from_secs(10);
/// The lifetime of a session.
pub const SESSION_TIME_MAX: Duration = Duration::from_secs(12 * 3600);
/// How often the cookie records that the key was found valid.
pub const CHECK_KEPT_EVERY: Duration = Duration::from_secs(300);
/// The longest cookie: browsers drop longer ones silently.
pub const COOKIE_BYTES_MAX: usize = 3800;
/// How long a session may read pages after its key was last found valid, while the store is
/// unavailable.
pub const UNCHECKED_TIME_MAX: Duration = Duration::from_secs(3600);
/// The longest notice from one page to the next.
pub const NOTICE_CHARS_MAX: usize = 700;
/// The longest text of a table cell; the rest is folded.
pub const CELL_CHARS_MAX: usize = 400;
/// The longest text in a fold.
pub const LONG_CHARS_MAX: usize = 20_000;
/// The part of a topic's message that is shown.
pub const MESSAGE_CHARS_MAX: usize = 3000;
/// The longest CSRF token.
pub const TOKEN_BYTES_MAX: u64 = 1024;
/// What is read of an upload form before its file starts. Browsers send chunks of any size, so the
/// start of the file may be part of it.
pub const UPLOAD_FIELDS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The time until the file of an upload form starts.
pub const UPLOAD_BEGIN_TIME_MAX: Duration = Duration::from_secs(30);
/// How long the rest of a refused file is read, so that the browser receives the answer.
pub const UPLOAD_END_TIME_MAX: Duration = Duration::from_secs(30);
/// The most tasks that are read to count and draw them.
pub const TASKS_LOOKED_AT_MAX: usize = 5000;
/// The same for pages that refresh every two seconds.
pub const TASKS_FOLLOWED_MAX: usize = 500;
/// Nodes of one graph.
pub const GRAPH_NODES_MAX: usize = 150;
/// The part of a log that is shown, from its end.
pub const LOG_TAIL_BYTES: u64 = 64 * 1024;
/// Pieces of a log that are read for its end: it may have gaps.
pub const LOG_PIECES_MAX: usize = 6;
/// Waiting visits of a stage are counted up to this number.
pub const DEPTH_COUNTED_MAX: f64 = 10_000.0;
