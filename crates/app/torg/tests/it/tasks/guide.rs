//! Runs the commands of the guide as they are written.

use crate::tasks::rig::Rig;

const TASKS: &str = "
tasks:
  sales_report: {when: {new_day: sales.loaded_to}, run: echo made}
  daily: {when: {new_day: sales.loaded_to}, run: echo made}
";

/// The words of a command line.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (place, part) in line.split(" #").next().unwrap().split('"').enumerate() {
        // Every second part is in quotation marks.
        match place % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[test]
fn every_command_of_the_guide_works() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/tasks.md")).unwrap();
    let online = guide.split("## Running tasks").nth(1).unwrap().split("## Alerts").next().unwrap();
    let lines: Vec<&str> = online.lines().filter(|line| line.starts_with("torg tasks ")).collect();
    assert_eq!(lines.len(), 17, "{lines:#?}");
    let rig = Rig::start(&[]);
    std::fs::create_dir(rig.server.folder.path().join("tasks")).unwrap();
    rig.write("tasks/all.yaml", TASKS);
    rig.set(&["sales.loaded_to=2026-03-25T08:05:00Z"]);
    for line in lines {
        let words = words(line);
        let arguments: Vec<&str> = words.iter().skip(2).map(|word| &**word).collect();
        match arguments[0] {
            // No run is active, and none is queued.
            "kill" => assert!(rig.refused(1, &arguments).contains("is not running"), "{line}"),
            "cancel" => assert!(rig.refused(1, &arguments).contains("is not queued"), "{line}"),
            _ => drop(rig.done(&arguments)),
        }
        if arguments[0] == "apply" {
            rig.until_ended("sales_report", 1);
        } else if arguments[0] == "run" {
            rig.until_ended("sales_report", 2);
        }
    }
}
