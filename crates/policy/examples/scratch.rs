use agent_bash_policy::*;
use std::io::BufRead;
fn main() {
    let all = std::env::args().nth(1).as_deref() == Some("all");
    let c = Context::new("/home/u/project").with_home("/home/u");
    let sel = if all {
        RuleSelection::all()
    } else {
        RuleSelection::default()
    };
    for l in std::io::stdin().lock().lines() {
        let l = l.unwrap();
        let s: String = serde_json::from_str(&l).unwrap();
        let v = check_safety(&Script::read(&s, &c), &sel);
        println!("{}\t{}", v.name(), v.finding().map_or("", |f| &f.rule));
    }
}
