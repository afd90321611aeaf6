"""A backfill as an Airflow DAG: slices of a range as mapped tasks, a gate that fails while blocks are missing, and one tail task.

Trigger it with other parameters for another range. The slices write to one warehouse in an object store, or, with a local `warehouse`, to a
folder each, which the tail adds to the warehouse. API key and credentials of the object store come from the environment of the workers.
"""

import os
import shlex
import subprocess
from datetime import datetime, timedelta, timezone

from airflow import DAG
from airflow.exceptions import AirflowException, AirflowFailException

try:
    from airflow.sdk import Param, get_current_context, task
except ImportError:  # Airflow 2
    from airflow.decorators import task
    from airflow.models.param import Param
    from airflow.operators.python import get_current_context

HOME = os.environ.get("TONLAKE_HOME", "/opt/tonlake")
# Slices that run at the same time, on all machines. Use about four times more slices.
AT_ONCE = 4


def tonlake(*args):
    code = subprocess.run(["node", "dist/src/cli.js", *map(str, args)], cwd=HOME).returncode
    if code == 2:  # Invalid usage: no retry would help.
        raise AirflowFailException("invalid usage: see the log")
    if code != 0:
        raise AirflowException(f"exit code {code}: see the log")


def settings():
    params = get_current_context()["params"]
    place = ["--network", params["network"], "--warehouse", params["warehouse"]]
    return params, place, not params["warehouse"].startswith("s3://")


with DAG(
    dag_id="tonlake_backfill",
    schedule=None,
    start_date=datetime(2026, 5, 1, tzinfo=timezone.utc),
    max_active_runs=1,
    default_args={"retries": 5, "retry_delay": timedelta(minutes=1)},
    params={
        "network": "mainnet",
        "range": Param("2026-05", description="blocks or days with fixed ends"),
        "warehouse": "s3://my-bucket/mainnet",
        "pipelines": ["transactions"],
        "lists": Param(["account_latest", "jetton_masters"], description="what belongs to no slice"),
        "spark_submit": Param("", description="options of spark-submit and build_marts.py: Spark builds the marts"),
        "catalog": Param("", description="address of an Iceberg REST catalog that keeps the tables"),
        "slices": 16,
        "rps": Param(10.0, description="requests a second of the API key; the slices divide them"),
    },
) as dag:

    @task
    def numbers():
        return list(range(1, settings()[0]["slices"] + 1))

    @task(max_active_tis_per_dag=AT_ONCE)
    def export(number):
        params, place, is_local = settings()
        if is_local:
            place[-1] += f"-slice-{number}"
        part = ["--range", params["range"], "--slice", f"{number}/{params['slices']}"]
        tonlake("run", *params["pipelines"], *place, *part, "--rps", params["rps"] / AT_ONCE)

    @task
    def gate():
        params, place, is_local = settings()
        if is_local:
            slices = [f"{place[-1]}-slice-{number}" for number in range(1, params["slices"] + 1)]
            tonlake("copy", "--add", *slices, place[-1])
        tonlake("status", *params["pipelines"], *place, "--range", params["range"])

    @task
    def tail():
        params, place, _ = settings()
        if params["lists"]:
            tonlake("run", *params["lists"], *place, "--range", params["range"], "--rps", params["rps"])
        tonlake("compact", *place)
        if not params["spark_submit"]:
            tonlake("build", *place)
        catalog = ["--catalog", params["catalog"]] if params["catalog"] else []
        tonlake("publish", "iceberg", *place, *catalog)
        if params["spark_submit"]:
            subprocess.run(["spark-submit", *shlex.split(params["spark_submit"])], cwd=HOME, check=True)

    export.expand(number=numbers()) >> gate() >> tail()
