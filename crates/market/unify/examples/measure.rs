//! How fast offers are unified: `cargo run --release -p unify --example measure-unify`. The offers
//! are the labelled titles with parameters and addresses.

#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use unify::{Input, LABELLED, Labelled, Param, Unifier};

const ROUNDS: usize = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let catalogue = Arc::new(catalog::Catalogue::builtin()?);
    let places = Arc::new(geo::Places::builtin()?);
    println!("catalogue and places loaded in {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
    let start = Instant::now();
    let unifier = Unifier::new(catalogue, places)?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    println!("unifier made in {took:.0} ms, {:.1} MiB of index", unifier.memory_bytes() as f64 / 1_048_576.0);
    let set = Labelled::read(LABELLED)?;
    let params = [
        Param { name: "Цвет", value: "чёрный", unit: "" },
        Param { name: "Вес", value: "1,5", unit: "кг" },
        Param { name: "Материал", value: "кожа", unit: "" },
        Param { name: "Особенности", value: "не указаны", unit: "" },
    ];
    let whole = |labelled: &Labelled<'_>, input: &mut dyn FnMut(&Input<'_>)| {
        input(&Input {
            title: labelled.title,
            description: "Состояние отличное, пользовались мало. Цвет: чёрный. Звоните в любое время.",
            path: &labelled.path,
            params: &params,
            address: Some("г. Санкт-Петербург, Невский пр., 1"),
            ..Input::default()
        });
    };
    let mut session = unifier.session();
    measure("whole offers", &set, &mut |labelled| whole(labelled, &mut |input| drop(session.unify(input))));
    let mut session = unifier.session();
    let mut category = |labelled: &Labelled<'_>| {
        drop(session.unify_goods(&Input { title: labelled.title, path: &labelled.path, ..Input::default() }));
    };
    measure("title and feed category only", &set, &mut category);
    let mut without_memory = |labelled: &Labelled<'_>| {
        drop(unifier.session().unify_goods(&Input {
            title: labelled.title,
            path: &labelled.path,
            ..Input::default()
        }));
    };
    measure("each in a session of its own", &set[..set.len() / 10], &mut without_memory);
    println!("{}", geo::ATTRIBUTION);
    Ok(())
}

fn measure(what: &str, set: &[Labelled<'_>], unify: &mut dyn FnMut(&Labelled<'_>)) {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        set.iter().for_each(&mut *unify);
    }
    let (count, seconds) = ((ROUNDS * set.len()) as f64, start.elapsed().as_secs_f64());
    println!(
        "{what}: {:.0} offers a second on one core, {:.1} us each",
        count / seconds,
        seconds * 1e6 / count
    );
}
