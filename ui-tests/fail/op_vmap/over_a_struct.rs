use dispatch_vmap::op_vmap;

#[op_vmap(myops::mymul)]
struct Rule;

fn main() {}
