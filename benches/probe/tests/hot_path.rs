//! Tests the disassembly of a typed call: straight-line code that ends in a jump to the kernel.

use std::process::Command;

#[test]
fn a_typed_call_has_no_call_no_branch_and_no_stack_frame_before_its_final_jump() {
    if cfg!(debug_assertions) || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("SKIPPED: run `cargo test --release -p probe` on x86-64 Linux");
        return;
    }
    let disassembly = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn", "--disassemble=opdispatch_typed_call", env!("CARGO_BIN_EXE_probe")])
        .output();
    let Ok(disassembly) = disassembly else {
        println!("SKIPPED: objdump is not installed (`apt-get install binutils`)");
        return;
    };
    let text = String::from_utf8_lossy(&disassembly.stdout);
    let instructions: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.ends_with("<opdispatch_typed_call>:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split('\t').nth(1))
        .filter(|instruction| {
            !matches!(instruction.split_whitespace().next(), Some("int3" | "nop" | "nopw" | "nopl" | "cs" | "data16"))
        })
        .collect();
    let (last, others) = instructions.split_last().expect("the function is in the program");
    assert!(last.starts_with("jmp") && last.contains('*'), "{text}");
    let is_branch = |instruction: &&&str| {
        instruction.starts_with('j') || instruction.starts_with("call") || instruction.starts_with("ret")
    };
    assert_eq!(others.iter().find(is_branch), None, "{text}");
    let uses_the_stack = |instruction: &&&str| instruction.starts_with("push") || instruction.contains("%rsp");
    assert_eq!(others.iter().find(uses_the_stack), None, "{text}");
}
