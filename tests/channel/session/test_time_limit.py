"""Code that takes too long is interrupted, by the clock or by the processor's time."""

from __future__ import annotations

from threading import Thread
from time import sleep

import pytest

from channelsim.channel.system.time_limit import OutOfTime, time_limit


class TooLong(KeyboardInterrupt):
    """Another error than the usual one."""


def busy_for_ever() -> None:
    while True:
        pass


@pytest.mark.parametrize("of_processor", [False, True])
def test_code_that_never_comes_back_is_interrupted(of_processor: bool) -> None:
    with pytest.raises(OutOfTime), time_limit(0.05, of_processor=of_processor):
        busy_for_ever()
    with pytest.raises(TooLong), time_limit(0.05, TooLong, of_processor=of_processor):
        busy_for_ever()
    with time_limit(10, of_processor=of_processor):
        assert sum(range(1000))


def test_who_waits_takes_no_time_of_the_processor() -> None:
    with time_limit(0.05, of_processor=True):
        sleep(0.1)


def test_a_thread_of_its_own_has_no_limit() -> None:
    done: list[int] = []

    def work() -> None:
        with time_limit(0.01):
            done.append(sum(range(1000)))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done
