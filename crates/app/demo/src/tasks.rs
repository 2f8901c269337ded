//! Reactive tasks of the demo, and the parameters that they wait for.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ctl::{Change, Ctl};
use jiff::{Span, Timestamp, ToSpan as _};
use triggers::{Parameter, Value};

use super::folder::{Folder, MARKER};
use super::limits::{RUNS_LOG_BYTES_MAX, VALUES_BEHIND_HOURS};
use super::sellers::GOOD;

/// The file with the task definitions.
pub(super) const FILE: &str = "tasks.yaml";
/// The log to which each run appends a line.
pub(super) const RUNS_LOG: &str = "runs.log";
const RUNS_LOG_BEFORE: &str = "runs.log.before";
/// A task to show in the guide, and the parameter that it waits for. Only users move that
/// parameter.
pub(super) const TASK: &str = "orders_digest";
pub(super) const VALUE: &str = "orders.loaded_to";
const AUTHOR: &str = "demo";

const TASKS: &str = r#"# The tasks of the demo. Change them and start the demo again, or put them to work with `torg tasks apply`.
# Every run writes a line into runs.log beside this file.

timezone: Europe/Moscow

limits:
  running: 4
  pools: {reports: 1}

defaults:
  owner: demo
  retry: {first: 10s, most: 1m, attempts: 5}
  timeout: 1m

tasks:
  sales_by_hour:
    about: Sales of every hour, as soon as they are loaded
    labels: {layer: facts}
    when: {new_hour: sales.loaded_to}
    run: {directory: "@FOLDER@", shell: 'echo "sales_by_hour up to $TORG_VALUE_SALES_LOADED_TO" >> runs.log'}
    sets: {sales_by_hour.made_to: sales.loaded_to}
    max_silence: 3h

  sales_report:
    about: The report of a day
    labels: {layer: reports}
    when: {new_day: sales_by_hour.made_to}
    run: {directory: "@FOLDER@", shell: 'echo "sales_report up to $TORG_VALUE_SALES_BY_HOUR_MADE_TO" >> runs.log'}
    sets: {sales_report.made_to: sales_by_hour.made_to}
    pool: reports
    priority: 10

  stock_on_site:
    about: Brings the stock to the site. The site is away at every fifth snapshot, and back at the second attempt
    labels: {layer: exchange}
    when: {grew: {of: stock.snapshot, by: 1}}
    run:
      directory: "@FOLDER@"
      shell: |
        if [ $(( TORG_VALUE_STOCK_SNAPSHOT % 5 )) -eq 0 ] && [ "$TORG_ATTEMPT" -lt 2 ]; then
          echo "the site does not answer: 503" >&2
          exit 1
        fi
        echo "stock_on_site at $TORG_VALUE_STOCK_SNAPSHOT" >> runs.log
    sets: {stock_on_site.snapshot: stock.snapshot}

  order_goods:
    about: What to order, when there is enough new stock and the sales are known
    labels: {layer: reports}
    when:
      all:
        - grew: {of: stock_on_site.snapshot, by: 3}
        - new_hour: {of: sales_by_hour.made_to, by: 2}
    run: {directory: "@FOLDER@", shell: 'echo "order_goods at $TORG_VALUE_STOCK_ON_SITE_SNAPSHOT" >> runs.log'}
    pool: reports
    max_silence: 1d

  furniture_prices:
    about: Compares prices whenever the changing feed of the furniture shop was loaded
    labels: {layer: torg}
    when: {grew: {of: torg/feeds/@SELLER@/changing.loaded_at, by: 30s}}
    run: {directory: "@FOLDER@", shell: 'echo "furniture_prices" >> runs.log'}

  orders_digest:
    about: Waits for you, `torg ctl set orders.loaded_to=now`
    labels: {layer: reports}
    when: {grew: {of: orders.loaded_to, by: 1s}}
    run: {directory: "@FOLDER@", shell: 'echo "orders_digest up to $TORG_VALUE_ORDERS_LOADED_TO" >> runs.log'}
    pool: reports

  search_index:
    about: Brings the search up to date with what Torg has exported
    labels: {layer: torg}
    when: {grew: {of: torg/offers.exported_to, by: 1m}}
    run: {directory: "@FOLDER@", shell: 'echo "search_index up to $TORG_VALUE_TORG_OFFERS_EXPORTED_TO" >> runs.log'}
    priority: 50
"#;

/// The text in front of a run's folder.
const DIRECTORY: &str = "directory: \"";

/// The task definitions, with `folder` as the working folder of runs.
fn tasks_in(folder: &Path) -> String {
    let path = folder.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    TASKS.replace("@FOLDER@", &path).replace("@SELLER@", GOOD)
}

/// The folder of the first task in a task file.
fn folder_of(tasks: &str) -> Option<PathBuf> {
    let (mut path, mut letters) = (String::new(), tasks.split_once(DIRECTORY)?.1.chars());
    loop {
        match letters.next()? {
            '"' => return Some(PathBuf::from(path)),
            '\\' => path.push(letters.next()?),
            letter => path.push(letter),
        }
    }
}

/// The result of writing the task file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The existing file stays.
    Kept,
    /// There was no file, or an unchanged one that names the demo's previous folder.
    Anew,
    /// The existing file was edited and names the demo's previous folder, to which its runs write.
    Moved(PathBuf),
}

/// Writes the file, unless it exists: a user may have edited it. An unedited file that names the
/// demo's previous folder is replaced, because its runs would still write there.
pub(super) fn write_file(folder: &Folder) -> anyhow::Result<Written> {
    let (file, tasks) = (folder.place(FILE), tasks_in(folder.path()));
    let found = match std::fs::read_to_string(&file) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            folder.write_text(FILE, &tasks)?;
            return Ok(Written::Anew);
        }
        // An unreadable file stays; reading the tasks reports the error.
        Err(_) => return Ok(Written::Kept),
    };
    let Some(before) = folder_of(&found).filter(|before| before != folder.path()) else {
        return Ok(Written::Kept);
    };
    if found == tasks_in(&before) {
        folder.write_text(FILE, &tasks)?;
        return Ok(Written::Anew);
    }
    // A user may have chosen another folder for runs on purpose.
    let was_ours = !before.exists() || before.join(MARKER).exists();
    Ok(if was_ours { Written::Moved(before) } else { Written::Kept })
}

/// Advances the parameters: half an hour of sales, a quarter of an hour of visits, and a snapshot
/// of the stock. They continue from their current values; times start weeks back and never pass the
/// present.
pub(super) async fn move_values(ctl: &Ctl, now: Timestamp) -> anyhow::Result<()> {
    let [sales, visits, stock] =
        [value("sales", "loaded_to"), value("visits", "counted_to"), value("stock", "snapshot")];
    let known = ctl.get_many(&[sales.clone(), visits.clone(), stock.clone()]).await?;
    let known = |place: usize| known.get(place).and_then(Option::as_ref).map(|known| known.value);
    let wanted = [
        (sales, moved_time(known(0), 30.minutes(), now)?),
        (visits, moved_time(known(1), 15.minutes(), now)?),
        (stock, moved_number(known(2), now)?),
    ];
    let changes = wanted.into_iter().map(|(parameter, value)| Change::set(parameter, value)).collect();
    match ctl.set(changes, AUTHOR, "the demo moves on").await {
        // A user moved one of them concurrently. The next round retries.
        Ok(_) | Err(ctl::Error::MovesBack { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The next value of a time. A value in the future, set by a user, waits for the present.
fn moved_time(known: Option<Value>, step: Span, now: Timestamp) -> Result<Value, jiff::Error> {
    Ok(match known {
        Some(Value::Time(time)) => Value::Time(time.checked_add(step)?.min(now).max(time)),
        // A user has set a number: it stays a number.
        Some(Value::Number(number)) => Value::Number(number.saturating_add(1)),
        None => Value::Time(now.checked_sub(VALUES_BEHIND_HOURS.hours())?),
    })
}

fn moved_number(known: Option<Value>, now: Timestamp) -> Result<Value, jiff::Error> {
    let known = known.unwrap_or(Value::Number(0));
    moved_time(Some(known), 1.hour(), now)
}

/// Rotates the run log when it is long, and keeps one previous file.
pub(super) fn bound_log(folder: &Folder) {
    let log = folder.place(RUNS_LOG);
    let is_long = std::fs::metadata(&log).is_ok_and(|log| log.len() > RUNS_LOG_BYTES_MAX);
    if is_long && let Err(error) = std::fs::rename(&log, folder.place(RUNS_LOG_BEFORE)) {
        tracing::warn!(%error, "the log of runs grows");
    }
}

fn value(entity: &str, name: &str) -> Parameter {
    Parameter { entity: entity.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_begin_weeks_back_and_come_up_with_the_present_but_never_pass_it() {
        let at = |hours: i64| Timestamp::from_second(1_700_000_000 + hours * 3600).unwrap();
        let moved = |known, now| moved_time(known, 30.minutes(), now).unwrap();
        let (mut known, mut steps) = (moved(None, at(0)), 0);
        assert_eq!(known, Value::Time(at(-VALUES_BEHIND_HOURS)));
        while known != Value::Time(at(0)) {
            (known, steps) = (moved(Some(known), at(0)), steps + 1);
        }
        assert_eq!(steps, VALUES_BEHIND_HOURS * 2);
        assert_eq!(moved(Some(known), at(0)), Value::Time(at(0)));
        assert_eq!(moved(Some(Value::Time(at(5))), at(0)), Value::Time(at(5)), "it never goes back");
        assert_eq!(moved(Some(Value::Number(7)), at(0)), Value::Number(8));
        assert_eq!(moved_number(None, at(0)).unwrap(), Value::Number(1));
    }

    #[test]
    fn a_log_of_runs_that_is_long_is_the_one_before() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::take(place.path()).unwrap().open(1).unwrap();
        bound_log(&folder);
        folder.write_text(RUNS_LOG, "short").unwrap();
        bound_log(&folder);
        assert!(folder.place(RUNS_LOG).exists() && !folder.place(RUNS_LOG_BEFORE).exists());
        let long = "x".repeat(RUNS_LOG_BYTES_MAX as usize + 1);
        folder.write_text(RUNS_LOG, &long).unwrap();
        bound_log(&folder);
        assert!(!folder.place(RUNS_LOG).exists() && folder.place(RUNS_LOG_BEFORE).exists());
    }

    #[test]
    fn tasks_of_a_demo_that_was_moved_write_where_it_is_now_unless_somebody_has_changed_them() {
        let place = tempfile::tempdir().unwrap();
        let [old, new] = ["an \"old\" \\ demo", "new"].map(|name| place.path().join(name));
        let open = |path: &Path| Folder::take(path).unwrap().open(1).unwrap();
        let folder = open(&old);
        assert_eq!(write_file(&folder).unwrap(), Written::Anew);
        assert_eq!(write_file(&folder).unwrap(), Written::Kept);
        drop(folder);
        std::fs::rename(&old, &new).unwrap();
        let folder = open(&new);
        assert_eq!(write_file(&folder).unwrap(), Written::Anew);
        let text = || std::fs::read_to_string(new.join(FILE)).unwrap();
        assert_eq!(text(), tasks_in(&new));

        let changed = tasks_in(&old).replace("priority: 50", "priority: 49");
        folder.write_text(FILE, &changed).unwrap();
        assert_eq!(write_file(&folder).unwrap(), Written::Moved(old.clone()));
        assert_eq!(text(), changed, "what people wrote stays");
        // A copy: the first demo still exists.
        std::fs::create_dir(&old).unwrap();
        std::fs::write(old.join(MARKER), "{}").unwrap();
        assert_eq!(write_file(&folder).unwrap(), Written::Moved(old.clone()));
        std::fs::remove_file(old.join(MARKER)).unwrap();
        assert_eq!(write_file(&folder).unwrap(), Written::Kept, "a folder that somebody chose");
        folder.write_text(FILE, "tasks: {}").unwrap();
        assert_eq!(write_file(&folder).unwrap(), Written::Kept);
    }

    #[test]
    fn the_tasks_have_no_mistakes_wherever_the_folder_is() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(FILE);
        std::fs::write(&file, tasks_in(Path::new("/tmp/a \"b\" \\ folder"))).unwrap();
        let set = taskfile::TaskSet::read(taskfile::load(&file).unwrap()).unwrap();
        assert_eq!((set.tasks().len(), set.warnings().len()), (7, 0));
    }
}
