"""Grading of a class: several processes or a Dask cluster grade many submissions, and each grade is stored at once.

One process stores the grades; the others grade. If a process dies, its submissions are graded again, and stored grades
are kept. A submission that kills its process twice gets no points and a message.
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
"""The Dask options for the client's certificates."""
ENDED = "the grading process died twice on this submission, perhaps because it ran out of memory; tell your instructor"


def grade_all(
    works: Iterable[Work],
    store: Store,
    course: Course,
    sandbox: Sandbox,
    run: Callable[[list[Work], Course, Sandbox], Iterator[Grade]],
    told: Callable[[int, int, Grade | None], None],
) -> None:
    """Grade all submissions that are not graded yet, and store each grade at once."""
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
    """Grade one submission after the other in this process."""
    for work in works:
        yield grade(work, course, sandbox)


def in_processes(jobs: int) -> Callable[[list[Work], Course, Sandbox], Iterator[Grade]]:
    """Return a function that grades in `jobs` processes of this machine."""

    def run(works: list[Work], course: Course, sandbox: Sandbox) -> Iterator[Grade]:
        rest = deque(works)
        suspects: list[Work] = []
        while rest:
            yield from _until_broken(rest, suspects, jobs, course, sandbox)
        # When a process dies, its submissions are graded one by one, so that a second death identifies the cause.
        for work in suspects:
            with _pool(1) as pool:
                try:
                    yield _graded(pool.submit(grade, work, course, sandbox), work)
                except BrokenProcessPool:
                    yield not_graded(find_assignment(work.assignment), work, ENDED)

    return run


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Spawned, because a fork would copy the engine's threads and locks.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this process when its parent ends, for whatever reason."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 -- for the type checker

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_it, daemon=True).start()


def _graded(future: Future[Grade], work: Work) -> Grade:
    """Wait for a grade; if the process cannot return one, return a grade without points."""
    try:
        return future.result()
    except (BrokenProcessPool, SandboxError):
        raise
    except Exception as error:  # noqa: BLE001 -- one submission must not stop the grading of others
        return not_graded(find_assignment(work.assignment), work, stopped_by(error))


def _until_broken(
    rest: deque[Work], suspects: list[Work], jobs: int, course: Course, sandbox: Sandbox
) -> Iterator[Grade]:
    """Grade the waiting submissions in one pool, until all are done or a process of the pool has died."""
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
    """Return a function that grades on a Dask cluster, whose workers must see the submissions' files at the same paths.

    Anyone who reaches a scheduler can run code on its workers. The scheduler must therefore require certificates: all
    accounts of this machine can reach its ports. Workers get the draws of the work that they grade, but not the secret.
    """
    if not address.startswith(TLS):
        message = (
            f"{address} is open to every account that can reach it; start the scheduler with certificates ({TLS}...)"
        )
        raise SeeklabError([Problem("--dask", message)])

    def run(works: list[Work], course: Course, sandbox: Sandbox) -> Iterator[Grade]:
        try:
            from distributed import Client, Security, as_completed
        except ImportError:
            message = "requires the package distributed; run: pip install distributed"
            raise SeeklabError([Problem("--dask", message)]) from None
        security = Security(require_encryption=True)
        _must_be_private(security)
        try:
            client = Client(address, timeout="30s", security=security)
        except (OSError, ValueError) as error:
            raise SeeklabError([Problem("--dask", f"no scheduler answers at {address}: {error}")]) from None
        with client:
            # If a worker dies, the scheduler gives its work to another.
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
    """Raise SeeklabError unless Dask's configuration names certificates, and a key that only its owner can read."""
    for name, option in CERTIFICATES.items():
        if not getattr(security, name):
            message = f"requires your certificates, but {option} is not set in Dask's configuration"
            raise SeeklabError([Problem("--dask", message)])
    key = Path(getattr(security, KEY))
    try:
        is_open = bool(key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError as error:
        raise SeeklabError([Problem("--dask", f"{key} cannot be read: {error.strerror}")]) from None
    if is_open and os.name == "posix":
        raise SeeklabError([Problem("--dask", f"other users can read {key}; run: chmod 600 {key}")])
