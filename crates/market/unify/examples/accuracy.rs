//! How well categories are recognised: `cargo run --release -p unify --example accuracy [--
//! train]`. Prints the share of right answers of both parts of the labelled set, and every error;
//! of the part `test` only if it is not told `train`.

use std::error::Error;
use std::sync::Arc;

use unify::{Accuracy, LABELLED, Labelled, Part, Score, Unifier};

fn main() -> Result<(), Box<dyn Error>> {
    let only_train = std::env::args().nth(1).is_some_and(|part| part == "train");
    let catalogue = Arc::new(catalog::Catalogue::builtin()?);
    let unifier = Unifier::new(catalogue.clone(), Arc::new(geo::Places::builtin()?))?;
    let set = Labelled::read(LABELLED)?;
    let accuracy = Accuracy::measure(&unifier, &set)?;
    print("train", accuracy.train);
    print("test", accuracy.test);
    print("whole", accuracy.whole());
    let name = |id: &str| catalogue.category(id).map(|category| category.path("en")).unwrap_or_default();
    for miss in accuracy.misses.iter().filter(|miss| !only_train || miss.labelled.part == Part::Train) {
        println!("\n{:?}: {} [{}]", miss.labelled.part, miss.labelled.title, miss.labelled.path.join(" > "));
        println!("  right  {} {}", miss.labelled.right[0], name(miss.labelled.right[0]));
        match &miss.answer {
            Some((id, points, reason)) => {
                println!("  answer {id} {} ({points} points by {})", name(id), reason.as_str());
            }
            None => println!("  answer none"),
        }
        miss.second.iter().for_each(|id| println!("  second {id} {}", name(id)));
    }
    Ok(())
}

fn print(part: &str, score: Score) {
    println!(
        "{part}: {} of {} right ({:.1} %), in the first two {:.1} %",
        score.first,
        score.lines,
        score.top1(),
        score.top2()
    );
}
