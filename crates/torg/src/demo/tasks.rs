//! Reactive tasks of the demo, and the values that they wait on.

use std::path::Path;

use anyhow::Context as _;
use jiff::{Timestamp, ToSpan as _};
use reactive::ctl::{self, Change, Ctl};
use triggers::{Parameter, Value};

use super::folder::Folder;
use super::sellers::GOOD;

/// The file of the tasks.
const FILE: &str = "tasks.yaml";
/// Where their runs write a line each.
pub(super) const RUNS_LOG: &str = "runs.log";
/// A task to look at, and the value that it waits for, which nobody moves but people.
pub(super) const TASK: &str = "orders_digest";
pub(super) const VALUE: &str = "orders.loaded_to";
/// Who moves the values.
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
    max_silence: 1h

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

/// The tasks, whose runs write into this folder.
fn tasks_in(folder: &Path) -> String {
    let path = folder.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    TASKS.replace("@FOLDER@", &path).replace("@SELLER@", GOOD)
}

/// Writes the file, unless it is there: somebody may have changed it.
pub(super) fn write_file(folder: &Folder) -> anyhow::Result<std::path::PathBuf> {
    let file = folder.place(FILE);
    if !file.exists() {
        std::fs::write(&file, tasks_in(folder.path()))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(file)
}

/// Moves the values on: an hour of sales, half an hour of visits, and a snapshot of the stock. They go on from where they are.
pub(super) async fn move_values(ctl: &Ctl, now: Timestamp) -> anyhow::Result<()> {
    let (sales, visits, stock) =
        (value("sales", "loaded_to"), value("visits", "counted_to"), value("stock", "snapshot"));
    let current = ctl.get_many(&[sales.clone(), visits.clone(), stock.clone()]).await?;
    let moment = |place: usize, by: jiff::Span| match current.get(place).and_then(Option::as_ref) {
        Some(known) => match known.value {
            Value::Time(time) => time.checked_add(by).map(Value::Time),
            // Somebody has made it a number: it stays one.
            Value::Number(number) => Ok(Value::Number(number + 1)),
        },
        None => Ok(Value::Time(now)),
    };
    let number = match current.get(2).and_then(Option::as_ref).map(|known| known.value) {
        Some(Value::Number(number)) => Value::Number(number.saturating_add(1)),
        Some(Value::Time(time)) => Value::Time(time.checked_add(1.hour())?),
        None => Value::Number(1),
    };
    let changes = vec![
        Change::set(sales, moment(0, 1.hour())?),
        Change::set(visits, moment(1, 30.minutes())?),
        Change::set(stock, number),
    ];
    match ctl.set(changes, AUTHOR, "the demo moves on").await {
        // Somebody else moved one of them meanwhile: the next time.
        Ok(_) | Err(ctl::Error::MovesBack { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn value(entity: &str, name: &str) -> Parameter {
    Parameter { entity: entity.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_have_no_mistakes_wherever_the_folder_is() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(FILE);
        std::fs::write(&file, tasks_in(Path::new("/tmp/a \"b\" \\ folder"))).unwrap();
        let set = taskfile::TaskSet::read(taskfile::load(&file).unwrap()).unwrap();
        assert_eq!((set.tasks().len(), set.warnings().len()), (7, 0));
    }
}
