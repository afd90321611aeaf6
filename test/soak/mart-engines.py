"""Runs the selects of marts in ClickHouse, as they are and translated by sqlglot, and asks sqlglot for those of Trino.

python mart-engines.py FOLDER SELECTS: FOLDER has a Parquet file for each table and mart, SELECTS is a JSON file of selects by mart. Prints
one line of JSON: a list of outcomes by mart. Of ClickHouse `same rows`, `other rows`, `refused` or `no rows`; of Trino `translated` or `refused`.
Rows are compared as sets with repetitions, columns by name, values as text.
"""

import collections
import datetime
import decimal
import json
import os
import pathlib
import sys

import pyarrow.parquet as parquet

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "deploy/spark"))
import sqlglot
from duckdb_to_spark import expand, parse, read_macros

folder, selects = sys.argv[1:3]
os.chdir(folder)
macros = read_macros((root / "sql/macros.sql").read_text())
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


run = open_clickhouse()


def in_clickhouse(name, sql):
    columns, rows = expected(name)
    try:
        got, values = run(sql)
    except Exception as error:
        print(f"{name}: {str(error).splitlines()[0][:300]}", file=sys.stderr)
        return "refused"
    if sorted(got) == columns and counted(got, values) == rows:
        return "same rows" if rows else "no rows"
    print(f"{name}: {sorted(got)} {len(values)} rows, expected {columns} {sum(rows.values())} rows", file=sys.stderr)
    for row in list((rows - counted(got, values)).items())[:1] + list((counted(got, values) - rows).items())[:1]:
        print(f"  {row}", file=sys.stderr)
    return "other rows"


def translated(sql, dialect):
    return expand(parse(sql), macros).sql(dialect=dialect, comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE)


outcomes = {}
with open(selects) as file:
    asked = json.load(file)
for name, sql in asked.items():
    outcomes[name] = [in_clickhouse(name, sql)]
    try:
        outcomes[name].append(in_clickhouse(name, translated(sql, "clickhouse")))
    except sqlglot.errors.SqlglotError as error:
        print(f"{name}: {str(error).splitlines()[0][:300]}", file=sys.stderr)
        outcomes[name].append("refused")
    try:
        translated(sql, "trino")
        outcomes[name].append("translated")
    except sqlglot.errors.SqlglotError as error:
        print(f"{name}: {str(error).splitlines()[0][:300]}", file=sys.stderr)
        outcomes[name].append("refused")
print("RESULT", json.dumps(outcomes))
