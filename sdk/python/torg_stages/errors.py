"""How a stage says that it has no answer for an offer."""

from torg_stages.proto import stage_pb2

# Longer texts are cut: `torg explain` shows them in one line.
MESSAGE_LENGTH_MAX = 1000


class Failed(Exception):
    """There is no answer for this offer. Raise `Passing` or `Lasting`."""

    lasting = False


class Passing(Failed):
    """It may work later: Torg tries again, with growing pauses."""


class Lasting(Failed):
    """It will not work with this offer as it is: the visit is parked until the offer changes or somebody releases it."""

    lasting = True


def failure(error: Exception) -> stage_pb2.Failure:
    """What Torg is told. An error that is none of ours is passing: a mended stage will do better."""
    if isinstance(error, Failed):
        message = str(error) or type(error).__name__
    else:
        message = f"{type(error).__name__}: {error}"
    lasting = isinstance(error, Failed) and error.lasting
    return stage_pb2.Failure(message=message[:MESSAGE_LENGTH_MAX], lasting=lasting)
