//! Computes the figures of stored runs by the present rule and writes the runs anew: `again FOLDER none|all|K RUN...`. The scatter
//! of a run's rounds is learnt from all other runs, from K of them, or from none. For scoring the rule on recorded runs.

use std::path::Path;

use analysis::again::recompute;
use analysis::history::traces;
use analysis::prior::{Prior, learn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, history, paths @ ..] = arguments.as_slice() else {
        return Err("again FOLDER none|all|K RUN...".into());
    };
    let runs = paths.iter().map(|path| record::read_run(Path::new(path))).collect::<Result<Vec<_>, _>>()?;
    let anew = |run: &record::Run, prior: &dyn Fn(&record::Cost) -> Prior| {
        let mut run = run.clone();
        recompute(&mut run, prior);
        run
    };
    let left: Vec<_> = runs.iter().map(|run| traces(&anew(run, &Prior::usual_for))).collect();
    let mut random = fastrand::Rng::with_seed(1);
    for (place, (run, path)) in runs.iter().zip(paths).enumerate() {
        let mut others: Vec<_> =
            left.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, left)| left).collect();
        random.shuffle(&mut others);
        others.truncate(match history.as_str() {
            "none" => 0,
            "all" => others.len(),
            count => count.parse()?,
        });
        let run = anew(run, &|cost| match others.is_empty() {
            true => Prior::usual_for(cost),
            false => learn(others.iter().filter_map(|left| left.get(&cost.name())), Prior::usual_for(cost)),
        });
        let name = Path::new(path).file_name().ok_or("a path without a name")?;
        std::fs::write(Path::new(folder).join(name), serde_json::to_vec(&run)?)?;
    }
    Ok(())
}
