"""Runs the selects of marts, as they are, in another engine.

python mart-engines.py ENGINE FOLDER SELECTS: FOLDER has a Parquet file for each table and mart, SELECTS is a JSON file of selects by mart. Prints
one line of JSON: `same rows`, `other rows`, `refused` or `no rows` by mart. Rows are compared as sets with repetitions, columns by name, values as text.
"""

import collections
import datetime
import decimal
import json
import os
import sys

import pyarrow.parquet as parquet

engine, folder, selects = sys.argv[1:4]
os.chdir(folder)
names = [name[: -len(".parquet")] for name in sorted(os.listdir(".")) if name.endswith(".parquet")]


def text(value):
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def counted(columns, rows):
    order = sorted(range(len(columns)), key=lambda at: columns[at])
    return collections.Counter(tuple(text(row[at]) for at in order) for row in rows)


def expected(name):
    table = parquet.read_table(f"{name}.parquet")
    columns = [column for column in table.column_names if column != "_coverage"]
    lists = [table.column(column).to_pylist() for column in columns]
    return sorted(columns), counted(columns, zip(*lists))


def open_spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    for name in names:
        session.read.parquet(f"{name}.parquet").createOrReplaceTempView(name)

    def run(sql):
        frame = session.sql(sql)
        return frame.columns, [tuple(row) for row in frame.collect()]

    return run


def open_clickhouse():
    from chdb import session as sessions

    session = sessions.Session()
    session.query("CREATE DATABASE IF NOT EXISTS w")
    session.query("USE w")
    for name in names:
        session.query(f"CREATE VIEW w.{name} AS SELECT * FROM file('{folder}/{name}.parquet', Parquet)")

    def run(sql):
        table = session.query(sql, "ArrowTable")
        lists = [table.column(at).to_pylist() for at in range(table.num_columns)]
        return table.column_names, list(zip(*lists))

    return run


run = {"spark": open_spark, "clickhouse": open_clickhouse}[engine]()
outcomes = {}
with open(selects) as file:
    asked = json.load(file)
for name, sql in asked.items():
    columns, rows = expected(name)
    try:
        got, values = run(sql)
    except Exception as error:
        outcomes[name] = "refused"
        print(f"{name}: {str(error).splitlines()[0][:300]}", file=sys.stderr)
        continue
    if sorted(got) == columns and counted(got, values) == rows:
        outcomes[name] = "same rows" if rows else "no rows"
    else:
        outcomes[name] = "other rows"
        print(f"{name}: {sorted(got)} {len(values)} rows, expected {columns} {sum(rows.values())} rows", file=sys.stderr)
        for row in list((rows - counted(got, values)).items())[:1] + list((counted(got, values) - rows).items())[:1]:
            print(f"  {row}", file=sys.stderr)
print("RESULT", json.dumps(outcomes))
