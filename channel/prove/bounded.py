"""Work with a limit of processor time that nothing outlasts.

Rules may loop in C (`sum(range(share))`), where no signal handler of Python runs and no other
thread. So the work is done in a child process, which the system ends.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from math import ceil

from channelsim.channel.prove.solver import LATE
from channelsim.channel.system.interrupt import SIGNALS
from channelsim.channel.system.process_executor import reported
from channelsim.watchdog import watching

MORE = 30.0
"""Seconds of processor time that are granted besides: one question of the solver may take some."""


def within(seconds: float, work: Callable[[], bytes]) -> bytes | str:
    """The result of work in a child process, or why there is none: so many seconds of processor
    time, and a few more, are over, or the process died. Raises what the work raises."""
    read, write = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = os.fork()
    if not child:
        os.close(read)
        _work(write, seconds + MORE, work)
    os.close(write)
    try:
        with open(read, "rb") as pipe:
            data = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) or not data:
        number = os.WTERMSIG(status)
        return LATE if number == signal.SIGXCPU else f"a process was ended by signal {number}"
    answer: bytes | BaseException = pickle.loads(data)
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _work(write: int, seconds: float, work: Callable[[], bytes]) -> None:
    """The life of the child."""
    try:
        threading.Thread(target=_end_with_parent, args=(write,), daemon=True).start()
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), hard))
        answer: bytes | BaseException
        try:
            with watching():
                answer = work()
        except BaseException as error:
            answer = reported(error)
        with open(write, "wb") as pipe:
            pipe.write(pickle.dumps(answer))
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    finally:
        os._exit(0)


def _end_with_parent(write: int) -> None:
    """End this process as soon as nobody reads its result, whatever it does."""
    gone = select.poll()
    gone.register(write, 0)
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in gone.poll()):
        os._exit(0)
