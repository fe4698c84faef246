//! The queue of `bench_runs/m-m-1.json`: Poisson arrivals, one server, exponential service.
//!
//! A source schedules its next arrival for itself and sends each customer to the server, which schedules the end of each
//! service for itself and adds up the response times.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSinkReader, EventSource, Output, SinkState, event_slot};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

/// As many as in the engine's own run.
pub const CUSTOMERS: u64 = 10_000_000;
/// Of a customer: the arrival, the message to the server, the end of the service.
pub const EVENTS: u64 = 3 * CUSTOMERS;

/// Exponentially distributed times, from a generator of one word (SplitMix64).
#[derive(Default, Serialize, Deserialize)]
struct Exponential {
    state: u64,
    mean_ns: f64,
}

impl Exponential {
    fn new(seed: u64, mean_ns: u64) -> Self {
        Self {
            state: seed,
            mean_ns: mean_ns as f64,
        }
    }

    fn draw(&mut self) -> Duration {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        // In (0, 1], so that the logarithm is finite.
        let uniform = ((word >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let ns = (-uniform.ln() * self.mean_ns).round() as u64;
        // nexosim schedules nothing for this very moment.
        Duration::from_nanos(ns.max(1))
    }
}

/// Sends customers to the server.
#[derive(Default, Serialize, Deserialize)]
struct Source {
    customer: Output<u64>,
    gaps: Exponential,
    left: u64,
}

#[Model]
impl Source {
    #[nexosim(schedulable)]
    async fn arrive(&mut self, id: u64, context: &Context<Self>) {
        self.customer.send(id).await;
        self.left -= 1;
        if self.left > 0 {
            context
                .schedule_event(self.gaps.draw(), schedulable!(Self::arrive), id + 1)
                .expect("a time to come");
        }
    }
}

/// Serves one customer at a time.
#[derive(Default, Serialize, Deserialize)]
struct Server {
    mean_ms: Output<f64>,
    services: Exponential,
    /// When each customer arrived; the first of them is being served.
    arrived: VecDeque<MonotonicTime>,
    served: u64,
    total: Duration,
}

#[Model]
impl Server {
    fn arrive(&mut self, id: u64, context: &Context<Self>) {
        self.arrived.push_back(context.time());
        if self.arrived.len() == 1 {
            self.start(id, context);
        }
    }

    #[nexosim(schedulable)]
    async fn done(&mut self, id: u64, context: &Context<Self>) {
        let arrived = self.arrived.pop_front().expect("whom it served");
        self.total += context.time().duration_since(arrived);
        self.served += 1;
        if !self.arrived.is_empty() {
            self.start(id + 1, context);
        }
        if self.served == CUSTOMERS {
            let mean_s = self.total.as_secs_f64() / CUSTOMERS as f64;
            self.mean_ms.send(mean_s * 1e3).await;
        }
    }

    fn start(&mut self, id: u64, context: &Context<Self>) {
        context
            .schedule_event(self.services.draw(), schedulable!(Self::done), id)
            .expect("a time to come");
    }
}

/// The wall time of one run and the mean response time in it.
pub fn measure(gap_ns: u64, service_ns: u64) -> (f64, f64) {
    let mut source = Source {
        gaps: Exponential::new(1, gap_ns),
        left: CUSTOMERS,
        ..Source::default()
    };
    let mut server = Server {
        services: Exponential::new(2, service_ns),
        ..Server::default()
    };
    let (source_box, server_box) = (Mailbox::new(), Mailbox::new());
    let (writer, mut reader) = event_slot(SinkState::Enabled);
    source.customer.connect(Server::arrive, &server_box);
    server.mean_ms.connect_sink(writer);
    let mut bench = SimInit::with_num_threads(1);
    let kick = EventSource::new()
        .connect(Source::arrive, &source_box)
        .register(&mut bench);
    let mut simulation = bench
        .add_model(source, source_box, "source")
        .add_model(server, server_box, "server")
        .init(MonotonicTime::EPOCH)
        .expect("a sound bench");
    let start = Instant::now();
    simulation.process_event(&kick, 0).expect("a customer");
    simulation.run().expect("a run");
    let wall_s = start.elapsed().as_secs_f64();
    (wall_s, reader.try_read().expect("a mean"))
}
