//! The verbs. The file of each has its arguments, its help and its work; one that is large has its arguments in `args`.

pub(crate) mod bill;
pub(crate) mod compare;
pub(crate) mod contribute;
pub(crate) mod crossover;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod file;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod interference;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod model;
pub(crate) mod noise;
pub(crate) mod predict;
pub(crate) mod prices;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod scaling;
mod schema;
pub(crate) mod self_test;
pub(crate) mod show;
pub(crate) mod study;
pub(crate) mod terminal;
pub(crate) mod time;
pub(crate) mod top;
pub(crate) mod watch;

use clap::Subcommand;

use crate::output::Outcome;

/// Lists the verbs in the order of the help: the name on the command line in CamelCase, the arguments, and the function that does the
/// work.
macro_rules! verbs {
    ($($name:ident($args:ty) => $work:path,)*) => {
        /// A verb with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($name(Box<$args>),)*
        }

        impl Verb {
            /// Does what the command line requests.
            pub fn carry_out(&self) -> anyhow::Result<Outcome> {
                match self {
                    $(Verb::$name(args) => $work(args),)*
                }
            }
        }
    };
}

verbs! {
    Run(run::RunArgs) => run::run,
    Time(time::args::TimeArgs) => time::time,
    Bill(bill::args::BillArgs) => bill::bill,
    Prices(prices::PricesArgs) => prices::prices,
    Top(top::TopArgs) => top::top,
    Noise(noise::NoiseArgs) => noise::noise,
    Crossover(crossover::CrossoverArgs) => crossover::crossover,
    Interference(interference::InterferenceArgs) => interference::interference,
    Scaling(scaling::ScalingArgs) => scaling::scaling,
    Load(load::args::LoadArgs) => load::load,
    Terminal(terminal::TerminalArgs) => terminal::terminal,
    File(file::FileArgs) => file::file,
    Fleet(fleet::args::FleetArgs) => fleet::fleet,
    List(list::ListArgs) => list::list,
    Show(show::ShowArgs) => show::show,
    Export(export::ExportArgs) => export::export,
    Import(import::ImportArgs) => import::import,
    Compare(compare::args::CompareArgs) => compare::compare,
    Contribute(contribute::ContributeArgs) => contribute::contribute,
    Report(report::args::ReportArgs) => report::report,
    Explain(explain::ExplainArgs) => explain::explain,
    Predict(predict::PredictArgs) => predict::predict,
    Model(model::ModelArgs) => model::model,
    Study(study::StudyArgs) => study::study,
    History(history::HistoryArgs) => history::history,
    Watch(watch::WatchArgs) => watch::watch,
    Doctor(doctor::DoctorArgs) => doctor::doctor,
    SelfTest(self_test::SelfTestArgs) => self_test::self_test,
    Schema(schema::SchemaArgs) => schema::schema,
}
