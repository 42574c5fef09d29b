//! Measures an embedding and a search: `cargo run --release -p rutter-search --example embed_speed`.
//! First calls run in a separate process each, as in hooks.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a bench has a clock of its own"
)]
#![allow(clippy::print_stdout, reason = "the figures")]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rutter_search::cache::{EVERYWHERE_PROJECT, SearchScope};
use rutter_search::embed::{EMBEDDING_HASH, VECTOR_DIMS, Vector, embed};
use rutter_search::vectors::{VectorDraft, VectorEntry, VectorFile};

/// A text of 37 tokens; hooks see many such texts.
const TEXT: &str = "thread 'main' panicked at src/store/spool.rs:177:9: called `Option::unwrap()` on a `None` \
                    value while the parser reads";

const NEAREST_COUNT: usize = 200;
const INDEX_EDITION: i64 = 1;
const ALL_DOCUMENTS: SearchScope = SearchScope { axis: 0, kind: None, project: None };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["embed"] => time_first_call(|| embed(TEXT).is_some()),
        ["scan", path] => {
            let query = embed(TEXT).unwrap();
            time_first_call(|| {
                VectorFile::open(Path::new(path), EMBEDDING_HASH, &[INDEX_EDITION])
                    .unwrap()
                    .scan(&query, NEAREST_COUNT, ALL_DOCUMENTS, |_| true)
                    .is_some()
            });
        }
        _ => measure_all(),
    }
}

/// Prints the microseconds of the first call in this process.
fn time_first_call(call: impl FnOnce() -> bool) {
    let start = Instant::now();
    assert!(black_box(call()));
    println!("{}", start.elapsed().as_secs_f64() * 1e6);
}

fn measure_all() {
    let folder = tempfile::tempdir().unwrap();
    print_times("a vector, first call", times_in_fresh_process(&["embed"], 200));
    print_times("a vector, warm", warm_times(1_000, || embed(black_box(TEXT)).is_some()));
    for count in [10_000, 100_000, 1_000_000] {
        let path = folder.path().join("vectors");
        let mut draft = VectorDraft::create(&path, INDEX_EDITION).unwrap();
        for row in 0..count {
            draft
                .add(
                    &random_vector(row),
                    VectorEntry { row, axis: 0, kind: 0, project: EVERYWHERE_PROJECT },
                )
                .unwrap();
        }
        draft.finish(count).unwrap();
        let rounds = usize::try_from(2_000_000 / count).unwrap().min(100);
        print_times(
            &format!("{count} vectors, fresh process"),
            times_in_fresh_process(&["scan", path.to_str().unwrap()], rounds),
        );
        let (file, query) = (
            VectorFile::open(&path, EMBEDDING_HASH, &[INDEX_EDITION]).unwrap(),
            embed(TEXT).unwrap(),
        );
        print_times(
            &format!("{count} vectors, warm"),
            warm_times(rounds, || {
                file.scan(&query, NEAREST_COUNT, ALL_DOCUMENTS, |_| true).is_some()
            }),
        );
    }
}

fn times_in_fresh_process(arguments: &[&str], rounds: usize) -> Vec<f64> {
    let here = std::env::current_exe().unwrap();
    let run = || Command::new(&here).args(arguments).output().unwrap().stdout;
    (0..rounds).map(|_| String::from_utf8(run()).unwrap().trim().parse().unwrap()).collect()
}

fn warm_times(rounds: usize, call: impl Fn() -> bool) -> Vec<f64> {
    let time = || {
        let start = Instant::now();
        assert!(black_box(call()));
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..rounds).map(|_| time()).collect()
}

fn print_times(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[times.len() * part / 10];
    println!("{name:<32} median {:>10.1} µs, lowest tenth {:>10.1} µs", at(5), at(1));
}

fn random_vector(seed: i64) -> Vector {
    let mut state = seed.cast_unsigned();
    let numbers: [i8; VECTOR_DIMS] = std::array::from_fn(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7].cast_signed()
    });
    Vector::new(numbers).unwrap()
}
