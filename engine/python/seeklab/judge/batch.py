"""A class: many submissions, graded by several processes or a Dask cluster, each written down as it is done.

One process keeps the grades; the others grade. Whoever dies takes nothing along: what was in its hands is graded again,
and what was written stays. A submission that ends the process that grades it twice gets no points and a sentence.
"""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.grading import Grade, Work, grade, not_graded, stopped_by
from seeklab.judge.sandbox import SandboxError
from seeklab.judge.store import print_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Security

    from seeklab.judge.identity import Course
    from seeklab.judge.sandbox import Sandbox
    from seeklab.judge.store import Store

TLS = "tls://"
KEY = "tls_client_key"
CERTIFICATES = {
    "tls_ca_file": "distributed.comm.tls.ca-file",
    "tls_client_cert": "distributed.comm.tls.client.cert",
    KEY: "distributed.comm.tls.client.key",
}
"""What Dask's client reads, and where from."""
ENDED = "grading it ended the process twice, for want of memory perhaps; tell your instructor"


def grade_all(
    works: Iterable[Work],
    store: Store,
    course: Course,
    sandbox: Sandbox,
    run: Callable[[list[Work], Course, Sandbox], Iterator[Grade]],
    told: Callable[[int, int, Grade | None], None],
) -> None:
    """Grade what is not graded yet, and keep each grade at once."""
    works = list(works)
    prints = {(work.student, work.assignment): print_of(work, course) for work in works}
    known = store.known()
    waiting = [work for work in works if known.get((work.student, work.assignment)) != _of(prints, work)]
    told(0, len(waiting), None)
    for done, graded in enumerate(run(waiting, course, sandbox), 1):
        store.keep(graded, prints[graded.student, graded.assignment])
        told(done, len(waiting), graded)


def _of(prints: dict[tuple[str, str], str], work: Work) -> str:
    return prints[work.student, work.assignment]


def here(works: list[Work], course: Course, sandbox: Sandbox) -> Iterator[Grade]:
    """Grade one after the other in this process."""
    for work in works:
        yield grade(work, course, sandbox)


def in_processes(jobs: int) -> Callable[[list[Work], Course, Sandbox], Iterator[Grade]]:
    """Grade in so many processes of this machine."""

    def run(works: list[Work], course: Course, sandbox: Sandbox) -> Iterator[Grade]:
        rest = deque(works)
        suspects: list[Work] = []
        while rest:
            yield from _until_broken(rest, suspects, jobs, course, sandbox)
        # What was in hand when a process ended is graded alone, so that another death has one culprit.
        for work in suspects:
            with _pool(1) as pool:
                try:
                    yield _graded(pool.submit(grade, work, course, sandbox), work)
                except BrokenProcessPool:
                    yield not_graded(find_assignment(work.assignment), work, ENDED)

    return run


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Spawned: a fork would carry the engine's threads and locks along.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this process when the one that started it ends, however that one ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 -- for the type checker

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_it, daemon=True).start()


def _graded(future: Future[Grade], work: Work) -> Grade:
    """Wait for a grade; a process that cannot even send one back has given no points."""
    try:
        return future.result()
    except (BrokenProcessPool, SandboxError):
        raise
    except Exception as error:  # noqa: BLE001 -- one submission never stops the grading of others
        return not_graded(find_assignment(work.assignment), work, stopped_by(error))


def _until_broken(
    rest: deque[Work], suspects: list[Work], jobs: int, course: Course, sandbox: Sandbox
) -> Iterator[Grade]:
    """Grade what waits in one pool, until it is all done or a process of the pool has ended."""
    in_hand: dict[Future[Grade], Work] = {}
    with _pool(jobs) as pool:
        broken = False
        while in_hand or (rest and not broken):
            while rest and not broken and len(in_hand) < 2 * jobs:
                try:
                    in_hand[pool.submit(grade, rest[0], course, sandbox)] = rest[0]
                except BrokenProcessPool:
                    broken = True
                else:
                    rest.popleft()
            for future in wait(in_hand, return_when=FIRST_COMPLETED).done:
                work = in_hand.pop(future)
                try:
                    yield _graded(future, work)
                except BrokenProcessPool:
                    broken = True
                    suspects.append(work)


def on_dask(address: str) -> Callable[[list[Work], Course, Sandbox], Iterator[Grade]]:
    """Grade on a Dask cluster, whose workers see the submissions' files where this process does.

    Whoever reaches a scheduler runs code on its workers. So it must ask for certificates: a port of this machine is
    open to all its accounts. Workers get the draws of the work that they grade, and never the course's secret.
    """
    if not address.startswith(TLS):
        message = (
            f"{address} is open to every account that reaches it; start the scheduler with certificates ({TLS}...)"
        )
        raise SeeklabError([Problem("--dask", message)])

    def run(works: list[Work], course: Course, sandbox: Sandbox) -> Iterator[Grade]:
        try:
            from distributed import Client, Security, as_completed
        except ImportError:
            message = "needs the package distributed: pip install distributed"
            raise SeeklabError([Problem("--dask", message)]) from None
        security = Security(require_encryption=True)
        _must_be_private(security)
        try:
            client = Client(address, timeout="30s", security=security)
        except (OSError, ValueError) as error:
            raise SeeklabError([Problem("--dask", f"no scheduler answers at {address}: {error}")]) from None
        with client:
            # A worker that dies gives its work back; the scheduler hands it to another.
            futures = {}
            for work in works:
                share = course.share(work.student, work.assignment)
                futures[client.submit(grade, work, share, sandbox, pure=False, retries=2)] = work
            for future in as_completed(list(futures)):
                try:
                    yield future.result()
                except Exception as error:  # noqa: BLE001 -- a learner's code may raise anything
                    work = futures[future]
                    reason = f"{ENDED} ({type(error).__name__})"
                    yield not_graded(find_assignment(work.assignment), work, reason)

    return run


def _must_be_private(security: Security) -> None:
    """Raise unless Dask's configuration names certificates, and a key that nobody else may read."""
    for name, option in CERTIFICATES.items():
        if not getattr(security, name):
            message = f"needs your own certificates; {option} is not set in Dask's configuration"
            raise SeeklabError([Problem("--dask", message)])
    key = Path(getattr(security, KEY))
    try:
        is_open = bool(key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError as error:
        raise SeeklabError([Problem("--dask", f"{key} cannot be read: {error.strerror}")]) from None
    if is_open and os.name == "posix":
        raise SeeklabError([Problem("--dask", f"{key} can be read by others; run: chmod 600 {key}")])
