"""Runs build_marts.py in one Spark session, as often as it is asked.

python driver.py WAREHOUSE [KEY=VALUE...]: the folder of a warehouse whose tables are published, or its address; settings of the session.
Each line of the input is a JSON list: ["build", ARGUMENT...] answers with {"code", "out"}; ["built", NAMESPACE, MART...] with the columns of each mart and its data
files; ["summary", NAMESPACE, MART] with the summary of its newest snapshot.
"""

import contextlib
import io
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/spark"))
import build_marts
from pyspark.sql import SparkSession

settings = {
    "spark.master": "local[1]",
    "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "spark.sql.catalog.ton": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ton.type": "hadoop",
    # Publications happen while the session goes on.
    "spark.sql.catalog.ton.cache-enabled": "false",
    "spark.sql.catalog.ton.warehouse": sys.argv[1],
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
    # A few rows a mart: to compile Java for them takes longer than to interpret it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "OFF",
    # To optimize what runs once takes longer than to run it.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
settings.update(argument.split("=", 1) for argument in sys.argv[2:])
builder = SparkSession.builder
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()


def built(namespace, *marts):
    tables = {mart: {"columns": spark.table(f"ton.{namespace}.{mart}").columns, "files": []} for mart in marts}
    rows = " UNION ALL ".join(f"SELECT '{mart}' AS mart, content, file_path FROM ton.{namespace}.{mart}.files" for mart in marts)
    for mart, content, path in spark.sql(rows).collect() if marts else []:
        # A file of deletes would take rows away from those of the data files.
        assert content == 0, path
        tables[mart]["files"].append(path.removeprefix("file:"))
    return tables


for line in sys.stdin:
    order, *arguments = json.loads(line)
    if order == "build":
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = build_marts.main(arguments)
        answer = {"code": code, "out": out.getvalue()}
    elif order == "built":
        answer = built(*arguments)
    else:
        answer = spark.table(f"ton.{'.'.join(arguments)}.snapshots").orderBy("committed_at").tail(1)[0].summary
    print("ANSWER", json.dumps(answer), flush=True)
