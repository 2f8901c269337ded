"""A persistent Dagster instance in a folder of its own, and what happens on it."""

import contextlib
import os
import tempfile

import dagster as dg


@contextlib.contextmanager
def instance(data):
    """An instance as it is by default, with SQLite, in a new folder under `data`. The folder is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="torg-peer-dagster-", dir=data) as folder:
        # Without a home Dagster would write to the user's.
        os.environ["DAGSTER_HOME"] = folder
        with dg.DagsterInstance.local_temp(folder, overrides={"telemetry": {"enabled": False}}) as opened:
            if not opened.is_persistent:
                raise RuntimeError("the instance is not persistent")
            yield opened


def update(instance, name):
    """The data of this name has changed: one event, stored when this returns."""
    instance.report_runless_asset_event(dg.AssetMaterialization(asset_key=name))


def last_update(instance, name):
    """The number of the last event of this name, of which there is one. A later event has a higher number."""
    [record] = instance.fetch_materializations(dg.AssetKey(name), limit=1).records
    return record.storage_id
