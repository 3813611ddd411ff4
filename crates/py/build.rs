//! Distinguishes the engine from others of the same version: a hash of all that decides a run.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose sources decide what comes out of a run.
const CRATES: &[&str] = &["units", "trace", "engine", "tcp", "net", "sim"];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for name in CRATES {
        let sources = root.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        add_folder(&mut hash, &sources);
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=ACKCLOCK_BUILD={hash:016x}");
    println!("cargo::rustc-env=ACKCLOCK_PROFILE={}", profile());
}

/// Name of the profile. Cargo's own variable says `release` for all that inherit from it; the folder
/// of this build (`target/[TARGET/]PROFILE/build/NAME/out`) has the name itself.
fn profile() -> String {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let folder = out.ancestors().nth(3).and_then(Path::file_name);
    folder.map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}

fn add_folder(hash: &mut u64, folder: &Path) {
    let entries = fs::read_dir(folder).expect("the sources are beside the bindings");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    for path in paths {
        add(hash, path.file_name().expect("an entry has a name").as_encoded_bytes());
        if path.is_dir() {
            add_folder(hash, &path);
        } else {
            add(hash, &fs::read(&path).expect("a readable source"));
        }
    }
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits, with a mark between the parts.
fn add(hash: &mut u64, bytes: &[u8]) {
    for byte in bytes.iter().chain(&[0xff]) {
        *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}
