use dispatch_autocast::autocast;

autocast!(banned: myops::mymul);

fn main() {}
