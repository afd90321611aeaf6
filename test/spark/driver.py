"""Runs build_marts.py in one Spark session, as often as it is asked.

python driver.py WAREHOUSE: the folder of a warehouse whose tables are published. Each line of the input is a JSON list: ["build", ARGUMENT...]
answers with {"code", "out"}; ["compare", FOLDER] with what each mart is next to the Parquet file of its name: "same rows", or how they differ;
["summary", MART] with the summary of its newest snapshot.
"""

import collections
import contextlib
import datetime
import decimal
import io
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/spark"))
import build_marts
from pyspark.sql import SparkSession

settings = {
    "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "spark.sql.catalog.ton": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ton.type": "hadoop",
    # Publications happen while the session goes on.
    "spark.sql.catalog.ton.cache-enabled": "false",
    "spark.sql.catalog.ton.warehouse": sys.argv[1],
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    # A few rows a mart: to compile Java for them takes longer than to interpret it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "OFF",
    # To optimize what runs once takes longer than to run it.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
builder = SparkSession.builder.master(os.environ.get("TONLAKE_SPARK_MASTER", "local[2]"))
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()


def text(value):
    match value:
        case datetime.datetime():
            return value.replace(tzinfo=None).isoformat()
        case decimal.Decimal():
            return format(value, "f")
    return str(value)


def counted(frame):
    columns = sorted(frame.columns)
    return columns, collections.Counter(tuple(map(text, row)) for row in frame.select(*columns).collect())


def compare(folder):
    outcomes = {}
    for path in sorted(pathlib.Path(folder).glob("*.parquet")):
        (columns, expected), (got_columns, got) = counted(spark.read.parquet(str(path))), counted(spark.table(f"ton.marts.{path.stem}"))
        same = columns == got_columns and expected == got
        outcomes[path.stem] = "same rows" if same else f"{got_columns} {list((got - expected).items())[:1]}, not {columns} {list((expected - got).items())[:1]}"
    return outcomes


for line in sys.stdin:
    order, *arguments = json.loads(line)
    if order == "build":
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = build_marts.main(arguments)
        answer = {"code": code, "out": out.getvalue()}
    elif order == "compare":
        answer = compare(*arguments)
    else:
        answer = spark.table(f"ton.marts.{arguments[0]}.snapshots").orderBy("committed_at").tail(1)[0].summary
    print("ANSWER", json.dumps(answer), flush=True)
