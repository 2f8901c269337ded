//! Checks operating system limits.

use rustix::process::{Resource, getrlimit};

use super::finding::{Area, Finding};
use super::limits::{FILES_BESIDE_CONNECTIONS, FILES_MIN};
use super::process::Process;
use node::config::Config;

enum Whose<'a> {
    /// The limit of the process at this address.
    Process(&'a str),
    /// The limit of this program, which a process started from the same shell inherits.
    Ours,
}

/// Checks the limit on open files: that of the running process if it reports one, else that of this
/// program.
pub(super) async fn check(config: &Config, process: Option<&Process>) -> Finding {
    let connections_max = config.limits.connections_max.into();
    if let Some(process) = process
        && let Some(allowed) = process.files_max().await
    {
        return judge(&Whose::Process(&process.url), Some(allowed), connections_max);
    }
    judge(&Whose::Ours, getrlimit(Resource::Nofile).current, connections_max)
}

fn judge(whose: &Whose<'_>, allowed: Option<u64>, connections_max: u64) -> Finding {
    let place = match whose {
        Whose::Process(url) => format!("in the process at {url}"),
        Whose::Ours => "in a process that is started from here".to_owned(),
    };
    let Some(allowed) = allowed else {
        return Finding::ok(Area::Machine, format!("any number of files may be open {place}"));
    };
    let wanted = connections_max + FILES_BESIDE_CONNECTIONS;
    let what = format!("{allowed} files may be open at once {place}");
    let raise = match whose {
        Whose::Process(_) => {
            format!("raise it where it is started (`ulimit -n {wanted}`, LimitNOFILE= of its unit)")
        }
        Whose::Ours => format!("raise it (`ulimit -n {wanted}`; a unit has its own, LimitNOFILE=)"),
    };
    let remedy = format!("{raise}, or lower limits.connections_max");
    if allowed < FILES_MIN {
        Finding::warning(Area::Machine, format!("only {what}"), remedy)
    } else if allowed < wanted {
        let what = format!("{what}; limits.connections_max = {connections_max} would need {wanted}");
        Finding::note(Area::Machine, what, remedy)
    } else {
        Finding::ok(Area::Machine, what)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn few_files_are_a_warning_and_fewer_than_connections_a_note() {
        let severity = |allowed| judge(&Whose::Ours, allowed, 10_000).severity;
        assert_eq!(severity(Some(256)), Severity::Warning);
        assert_eq!(severity(Some(4096)), Severity::Note);
        assert_eq!((severity(Some(65_536)), severity(None)), (Severity::Ok, Severity::Ok));
    }

    #[test]
    fn it_is_said_whose_limit_it_is() {
        let ours = judge(&Whose::Ours, Some(256), 10_000);
        assert_eq!(ours.what, "only 256 files may be open at once in a process that is started from here");
        assert!(ours.remedy.contains("a unit has its own"), "{ours:?}");
        let theirs = judge(&Whose::Process("http://h:1"), Some(65_536), 10_000);
        assert_eq!(theirs.what, "65536 files may be open at once in the process at http://h:1");
    }
}
