"""An executor over processes that survives the death of one, and hears of calls under way.

Unlike `ProcessPoolExecutor` it blames the death of a process on the call that it ran; only that one
fails. Its processes leave signals to their parent, bound authors' code, and end with the parent,
however that ends.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

from channelsim import plugins
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.system.interrupt import SIGNALS
from channelsim.games.errors import IllegalMove
from channelsim.watchdog import watching

_SERVE = """\
import sys
sys.path[:] = sys.argv[2:]
from channelsim.channel.system.process_executor import serve
serve(int(sys.argv[1]))
"""
"""The program of a worker process: its arguments are its end of the pipe, and our search path.

`multiprocessing` would refuse to start it from a worker of Dask, which is a daemon.
"""

IDLE = 60.0
"""Seconds after which a process without a call ends: a worker of Dask may keep its executor long
after the last one, with the error of a call that failed."""

GONE = "a worker process ended in the middle of its work"

P = ParamSpec("P")
T = TypeVar("T")

OnMessage = Callable[[Future[Any], Any], None]
"""Called with each message of a call, in any thread, and the call's future."""


class WorkerDied(BrokenExecutor):
    """The process that ran this call has ended."""


@dataclass(frozen=True, slots=True)
class Parent:
    """What waits for a call, as the call sees it. By default that is nobody, as on a cluster.

    `send` sends it a message, such as progress; `wants_stop` says if the call should return early.
    """

    send: Callable[[Any], None] = lambda message: None
    wants_stop: Callable[[], bool] = lambda: False


_parent = Parent()


def parent() -> Parent:
    """The parent of the call that runs in this process."""
    return _parent


class _Kind(Enum):
    MESSAGE = auto()
    RESULT = auto()
    ERROR = auto()


_Process = subprocess.Popen[bytes]
_Worker = tuple[_Process, Connection]
_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
_Task = tuple[Future[Any], _Call]


class ProcessExecutor(Executor):
    """Processes that each run one call at a time; they start when there is something to do.

    `on_message` hears of the messages of calls; another one may take its place between two.
    """

    def __init__(
        self, processes: int, on_message: OnMessage = lambda future, message: None
    ) -> None:
        self.on_message = on_message
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = self._stopping = False
        self._processes: list[_Process] = []
        self._busy: set[Connection] = set()
        self._threads = [
            threading.Thread(target=self._attend, daemon=True) for _ in range(processes)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call in one of the processes; function, arguments and result are pickled."""
        if self._closed:
            raise RuntimeError("the executor was shut down")
        future: Future[T] = Future()
        self._tasks.put((future, (fn, args, kwargs)))
        return future

    def stop(self) -> None:
        """Ask the calls under way to return early, and those that come."""
        with self._lock:
            self._stopping = True
            for end in self._busy:
                _send_stop(end)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Finish the calls (or cancel those that wait), and end the processes."""
        self._closed = True
        if cancel_futures:
            self._cancel_waiting()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End all processes at once; the calls under way fail."""
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.kill()
        self.shutdown(cancel_futures=True)

    def _cancel_waiting(self) -> None:
        while not self._tasks.empty():
            task = self._tasks.get()
            if task is not None:
                task[0].cancel()

    # --- a thread for each process ---

    def _attend(self) -> None:
        """Give calls to one process, and start another one when it ends."""
        worker: _Worker | None = None
        while True:
            try:
                task = self._tasks.get(timeout=None if worker is None else IDLE)
            except Empty:
                self._end(worker)
                worker = None
                continue
            if task is None:
                break
            worker = self._do(task, worker)
            del task
        self._end(worker)

    def _do(self, task: _Task, worker: _Worker | None) -> _Worker | None:
        """Do one call; return the process if it is still there."""
        future, call = task
        if not future.set_running_or_notify_cancel():
            return worker
        try:
            worker = worker or self._start()
            result = self._run(worker[1], future, call)
        except (EOFError, OSError):
            self._end(worker)
            worker = None
            future.set_exception(WorkerDied(GONE))
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            del future, task  # an error's frames hold those who wait for it: leave no cycle
        return worker

    def _run(self, end: Connection, future: Future[Any], call: _Call) -> Any:
        end.send(call)
        with self._lock:  # after the call, which another thread must not interrupt
            self._busy.add(end)
            if self._stopping:
                _send_stop(end)
        try:
            while True:
                kind, value = end.recv()
                if kind is not _Kind.MESSAGE:
                    break
                self.on_message(future, value)
        finally:
            with self._lock:
                self._busy.discard(end)
        if kind is _Kind.ERROR:
            raise value
        return value

    def _start(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise EOFError
            worker = _start_process()
            self._processes.append(worker[0])
        return worker

    def _end(self, worker: _Worker | None) -> None:
        if worker is None:
            return
        process, end = worker
        end.close()
        process.wait()
        with self._lock:
            self._processes.remove(process)


def _start_process() -> _Worker:
    """Start a worker; return its process and our end of the pipe to it.

    It blocks all signals, which the parent handles, and is ended by its owner.
    """
    ours, theirs = Pipe()
    end = theirs.fileno()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # the process inherits it
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(end), *sys.path],
            stdin=subprocess.DEVNULL,
            pass_fds=[end],
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
    return process, ours


@contextmanager
def _bounded() -> Iterator[None]:
    """Bound authors' code in a worker process, and keep what it prints out of our output."""
    with watching(), redirect_stdout(sys.stderr):
        yield


def reported(error: BaseException) -> Exception:
    """What the parent of a worker process raises for an error there."""
    if isinstance(error, UsageError):
        return error
    if isinstance(error, plugins.WrongAnswer | IllegalMove):
        return UsageError(str(error))
    if plugins.blamed(error):
        return UsageError(plugins.described(error))
    return InvariantError(f"a worker: {type(error).__name__}: {error}")


def _send_stop(end: Connection) -> None:
    """Ask a process to stop; if it has ended, its thread reports that."""
    with suppress(OSError):
        end.send(None)


def _at_other_end(end: Connection) -> Parent:
    """The parent of a call, at the other end of a pipe."""
    stopped = False

    def wants_stop() -> bool:
        nonlocal stopped
        stopped = stopped or (end.poll() and end.recv() is None)
        return stopped

    return Parent(lambda message: end.send((_Kind.MESSAGE, message)), wants_stop)


def serve(descriptor: int) -> None:
    """The life of a process: run calls until the parent closes the other end of this pipe."""
    global _parent
    end = Connection(descriptor)
    threading.Thread(target=_end_with_parent, args=(end,), daemon=True).start()
    try:
        with _bounded():
            while True:
                call = end.recv()
                if call is None:  # the call that it would stop has just returned
                    continue
                _parent = _at_other_end(end)
                function, arguments, keywords = call
                try:
                    result = _Kind.RESULT, function(*arguments, **keywords)
                except (EOFError, ConnectionError):
                    raise
                except BaseException as error:
                    end.send((_Kind.ERROR, reported(error)))
                else:
                    end.send(result)
    except (EOFError, ConnectionError):
        return  # nobody waits for results any more


def _end_with_parent(end: Connection) -> None:
    """End this process as soon as nobody has the other end of the pipe, whatever it does."""
    gone = select.poll()
    gone.register(end, 0)  # nothing but a hang-up
    gone.poll()
    os._exit(0)


class InlineExecutor(Executor):
    """Runs each call at once, in this process and thread.

    `wants_stop` says whether calls should return early. An interrupt passes through.
    """

    def __init__(
        self,
        on_message: OnMessage = lambda future, message: None,
        wants_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._on_message, self._wants_stop = on_message, wants_stop

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call; the future is done when this returns."""
        global _parent
        future: Future[T] = Future()
        before = _parent
        _parent = Parent(partial(self._on_message, future), self._wants_stop)
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        finally:
            _parent = before
        return future
