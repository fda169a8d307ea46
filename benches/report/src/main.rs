mod steps;
use std::ffi::OsStr;
fn main() {
    let p = std::env::args().nth(1).unwrap();
    let lib = std::env::args().nth(2);
    for (i, path) in paths::PATHS.iter().enumerate() {
        let n = i.to_string();
        let mut a: Vec<&OsStr> = vec!["count".as_ref(), n.as_ref()];
        if let Some(l) = &lib { a.push(l.as_ref()); }
        println!("{:45} {:?}", path.name, steps::per_call(p.as_ref(), &a));
    }
}
