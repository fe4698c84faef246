//! The queue of `bench_runs/one-queue.json`: requests in flight, one server, a fixed service time each.
//!
//! A requester and a server send each other events; the server schedules the end of each service for itself.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, Output};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

/// Enough to be steady.
pub const REQUESTS: u64 = 1_000_000;
/// Of a request: its arrival, the end of its service, the reply.
pub const EVENTS: u64 = 3 * REQUESTS;

/// Sends a new request whenever one is done.
#[derive(Default, Serialize, Deserialize)]
struct Requester {
    request: Output<u64>,
    left: u64,
}

#[Model]
impl Requester {
    async fn go_on(&mut self, id: u64) {
        if self.left > 0 {
            self.left -= 1;
            self.request.send(id).await;
        }
    }
}

/// Serves one request at a time.
#[derive(Default, Serialize, Deserialize)]
struct Server {
    reply: Output<u64>,
    waiting: VecDeque<u64>,
    busy: bool,
    service_ns: u64,
}

#[Model]
impl Server {
    fn arrive(&mut self, id: u64, context: &Context<Self>) {
        self.waiting.push_back(id);
        self.start(context);
    }

    #[nexosim(schedulable)]
    async fn done(&mut self, id: u64, context: &Context<Self>) {
        self.busy = false;
        self.reply.send(id).await;
        self.start(context);
    }

    fn start(&mut self, context: &Context<Self>) {
        if self.busy {
            return;
        }
        if let Some(id) = self.waiting.pop_front() {
            self.busy = true;
            let service = Duration::from_nanos(self.service_ns);
            context
                .schedule_event(service, schedulable!(Self::done), id)
                .expect("a time to come");
        }
    }
}

/// The wall time of one run.
pub fn measure(depth: u64, service_ns: u64) -> f64 {
    let mut requester = Requester {
        left: REQUESTS,
        ..Requester::default()
    };
    let mut server = Server {
        service_ns,
        ..Server::default()
    };
    let (requester_box, server_box) = (Mailbox::new(), Mailbox::new());
    requester.request.connect(Server::arrive, &server_box);
    server.reply.connect(Requester::go_on, &requester_box);
    let mut bench = SimInit::with_num_threads(1);
    let kick = EventSource::new()
        .connect(Requester::go_on, &requester_box)
        .register(&mut bench);
    let mut simulation = bench
        .add_model(requester, requester_box, "requester")
        .add_model(server, server_box, "server")
        .init(MonotonicTime::EPOCH)
        .expect("a sound bench");
    let start = Instant::now();
    for id in 0..depth {
        simulation.process_event(&kick, id).expect("a request");
    }
    simulation
        .step_until(Duration::from_nanos(service_ns * (REQUESTS + 1)))
        .expect("a run");
    start.elapsed().as_secs_f64()
}
