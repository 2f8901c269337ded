"""Failures: a stage has no answer for an offer."""

from torg_stages.proto import stage_pb2

# Longer texts are cut: `torg explain` shows them in one line.
MESSAGE_LENGTH_MAX = 1000


class Failed(Exception):
    """There is no answer for this offer. Raise `Passing` or `Lasting`."""

    lasting = False


class Passing(Failed):
    """Temporary: Torg retries with back-off."""


class Lasting(Failed):
    """Permanent for this version: the visit is parked until the offer changes or an operator releases it."""

    lasting = True


def failure(error: Exception) -> stage_pb2.Failure:
    """The message for Torg. Other exceptions are passing: a fixed stage may succeed."""
    if isinstance(error, Failed):
        message = str(error) or type(error).__name__
    else:
        message = f"{type(error).__name__}: {error}"
    lasting = isinstance(error, Failed) and error.lasting
    return stage_pb2.Failure(message=message[:MESSAGE_LENGTH_MAX], lasting=lasting)
