#![allow(missing_docs)]
use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let start = std::time::Instant::now();
    let mut run = match seeklab_core::api::Run::open(&text) {
        Ok(r) => r,
        Err(e) => {
            println!("{e}");
            std::process::exit(2)
        }
    };
    loop {
        let p = run.step(1 << 20);
        if p == 1.0 || p < 0.0 {
            break;
        }
        if std::env::var("V").is_ok() {
            eprintln!("{p}");
        }
    }
    println!("{}", run.summary());
    if let Ok(cols) = std::env::var("COLS") {
        for c in cols.split(',') {
            eprintln!("{c} {:?}", run.column(c));
        }
    }
    eprintln!("wall {:?}", start.elapsed());
}
