use dispatch_autocast::autocast;

autocast!(lowr: myops::mymul);

fn main() {}
