//! The tools that a run can be printed with: the one list of their names, what each shows, and how. Hosts ask for it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use seeklab_formats::fio::{Bins, json, normal, terse};
use seeklab_model::cpu::folded::fold;
use seeklab_model::layers::controller::Controller;
use seeklab_model::layers::server::Server;
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};

use crate::{analytics, bonnie, dtrace, fio, histogram, iostat, listing, monitor, oplog, parted};

/// Prints a run; options by name.
type Print = fn(&Stack, &Map<String, Value>) -> Result<String, Problems>;

/// Name, what it shows, how.
const TOOLS: [(&str, &str, Print); 23] = [
    ("metrics", "All metrics of the run: name, value, unit and meaning.", |stack, _| Ok(listing::print(stack))),
    ("metrics-json", "The same as JSON.", |stack, _| Ok(listing::json(stack))),
    ("oplog", "The operation log, one line per operation: data found in memory, and time per phase.", oplog::print),
    ("histogram", "Histogram of latencies, by count and by total time.", histogram::print),
    ("iostat", "Output of iostat -x for each device, over the whole run.", |stack, _| Ok(iostat::print(stack))),
    ("iostat-json", "The same as JSON.", |stack, _| Ok(iostat::json(stack))),
    ("monitor", "Output of a monitor that averages over time windows.", monitor::print),
    ("monitor-json", "The same as JSON.", monitor::json),
    ("parted", "Output of parted -l for each device: its sectors and its partition.", |stack, _| Ok(parted::print(stack))),
    ("fio", "The report of fio as text.", |stack, options| Ok(normal(&fio::report(stack, options)?))),
    ("fio-json", "The report of fio as JSON.", |stack, options| Ok(json(&fio::report(stack, options)?, Bins::Without))),
    ("fio-json+", "The report of fio as JSON, with latency bins.", |stack, options| Ok(json(&fio::report(stack, options)?, Bins::With))),
    ("fio-terse", "The report of fio as lines of fields, version 3.", |stack, options| Ok(terse(&fio::report(stack, options)?))),
    ("folded", "Processor time by function stack, one line each: the input of a flame graph.", |stack, _| Ok(folded(stack))),
    ("quantize", "Latencies in the form of DTrace's quantize(), by powers of two.", dtrace::quantize),
    ("lquantize", "Latencies in the form of DTrace's lquantize(), in milliseconds.", dtrace::lquantize),
    ("packed", "Latencies as a DTrace aggregation packed into one line.", dtrace::packed),
    ("dirty", "Output of a DTrace script: dirty data at the start of each sync.", |stack, _| dtrace::dirty(stack)),
    ("sync", "Output of a DTrace script: duration of each sync.", |stack, _| dtrace::sync(stack)),
    ("delays", "Output of a DTrace script: delayed writes and their delays.", |stack, _| dtrace::delays(stack)),
    ("bonnie", "The report of Bonnie++ as text.", |stack, _| bonnie::print(stack)),
    ("bonnie-csv", "The report of Bonnie++ as a line of CSV.", |stack, _| bonnie::csv(stack)),
    ("analytics", "A server's own analytics: operations, latency and cores by time, client or device.", analytics::print),
];

/// A tool that a run can be printed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// Description of the output.
    pub help: &'static str,
}

/// The name of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ToolName(&'static str);

impl JsonSchema for ToolName {
    fn schema_name() -> Cow<'static, str> {
        "ToolName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "The name of a tool.", "enum": TOOLS.map(|(name, ..)| name)})
    }
}

/// All of them.
#[must_use]
pub fn tools() -> Vec<Tool> {
    TOOLS.iter().map(|(name, help, _)| Tool { name: ToolName(name), help }).collect()
}

/// Prints a run as the tool called `name` does.
///
/// # Errors
/// When there is no such tool or an option is not understood.
pub fn print(stack: &Stack, name: &str, options: &Map<String, Value>) -> Result<String, Problems> {
    match TOOLS.iter().find(|(own, ..)| *own == name) {
        Some((.., print)) => print(stack, options),
        None => Err(vec![Problem::unknown("tool", "tool", name, TOOLS.map(|(name, ..)| name))]),
    }
}

fn folded(stack: &Stack) -> String {
    let mut frames = stack.server().map_or_else(Vec::new, Server::frames);
    frames.extend(stack.controller().map(Controller::frames).into_iter().flatten());
    fold(&frames)
}
