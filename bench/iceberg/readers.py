"""python readers.py FOLDER ENGINE...: asks engines for count, nulls, least, greatest and sum of every column of every published table.

FOLDER has `asked.json`: {"tables": {name: {"folder": ..., "files": [...]}}, "old": {"table", "tag", "rows"}, "day": ...}, and `extensions/`
with DuckDB's extensions. The truth is what DuckDB says of the Parquet files. Prints one JSON object per engine.
"""

import json
import os
import sys
import time

import duckdb

folder, *engines = sys.argv[1:]
asked = json.load(open(f"{folder}/asked.json"))
os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"


def fields(table):
    version = open(f"{table}/metadata/version-hint.text").read()
    metadata = json.load(open(f"{table}/metadata/v{version}.metadata.json"))
    schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    return [(field["name"], field["type"]) for field in schema["fields"]]


class Dialect:
    """How an engine spells what is asked; DuckDB's way."""

    quote = staticmethod(lambda name: f'"{name}"')
    text = staticmethod(lambda sql: f"CAST({sql} AS VARCHAR)")
    hex = staticmethod(lambda sql: f"lower(hex({sql}))")
    micros = staticmethod(lambda sql: f"CAST(epoch_us({sql}) AS VARCHAR)")
    wide = staticmethod(lambda sql: f"CAST({sql} AS HUGEINT)")
    date = staticmethod(lambda day: f"DATE '{day}'")


class ClickHouse(Dialect):
    quote = staticmethod(lambda name: f"`{name}`")
    text = staticmethod(lambda sql: f"toString({sql})")
    micros = staticmethod(lambda sql: f"toString(toUnixTimestamp64Micro(toDateTime64({sql}, 6, 'UTC')))")
    wide = staticmethod(lambda sql: f"CAST({sql} AS Nullable(Int256))")
    date = staticmethod(lambda day: f"toDate('{day}')")


class Spark(Dialect):
    quote = staticmethod(lambda name: f"`{name}`")
    text = staticmethod(lambda sql: f"CAST({sql} AS STRING)")
    micros = staticmethod(lambda sql: f"CAST(unix_micros(CAST({sql} AS TIMESTAMP)) AS STRING)")
    wide = staticmethod(lambda sql: f"CAST({sql} AS DECIMAL(38, 0))")


def figures(table, dialect):
    """Name and SQL of each figure."""
    found = [("rows", "count(*)")]
    for name, type_ in fields(table):
        column = dialect.quote(name)
        found.append((f"{name} nulls", f"count(*) - count({column})"))
        if type_ == "boolean":
            found.append((f"{name} true", f"count(CASE WHEN {column} THEN 1 END)"))
            continue
        shown = {"binary": dialect.hex, "timestamp": dialect.micros}.get(type_, dialect.text)
        found += [(f"{name} {end}", shown(f"{end}({column})")) for end in ("min", "max")]
        if type_ in ("int", "long"):
            found.append((f"{name} sum", dialect.text(f"sum({dialect.wide(column)})")))
        if type_.startswith("decimal"):
            # The sum of all would have more than 38 digits.
            found.append((f"{name} sum", dialect.text(f"sum({dialect.wide(column)} % 1000000007)")))
    return found


def profile(table, source, ask, dialect):
    wanted = figures(table, dialect)
    found = {}
    for at in range(0, len(wanted), 40):
        part = wanted[at : at + 40]
        row = ask(f"SELECT {', '.join(sql for _, sql in part)} FROM {source}")
        for (name, _), value in zip(part, row):
            found[name] = None if value in (None, "", "\\N", "ᴺᵁᴸᴸ") else str(value)
    return found


def day_sql(source, dialect):
    """A query that filters by the day, and does not select it."""
    return f"SELECT count(*), {dialect.text('sum(' + dialect.wide('total_fees') + ')')} FROM {source} WHERE block_date = {dialect.date(asked['day'])}"


def connect(*extensions):
    connection = duckdb.connect(config={"extension_directory": f"{folder}/extensions", "threads": 2})
    for name in extensions:
        connection.execute(f"LOAD {name}")
    return connection


def duckdb_asker(connection):
    return lambda sql: connection.execute(sql).fetchone()


def truth():
    ask = duckdb_asker(connect())
    for name, table in asked["tables"].items():
        if not table["files"]:
            continue
        dated = "block_date=" in table["files"][0]
        types = "hive_types = {'block_date': DATE}" if dated else "hive_partitioning = false"
        source = f"read_parquet({table['files']!r}, union_by_name = true, {types})"
        yield name, source, ask, Dialect


def by_duckdb():
    ask = duckdb_asker(connect("avro", "iceberg"))
    for name, table in asked["tables"].items():
        yield name, f"iceberg_scan('{table['folder']}')", ask, Dialect


def static(name):
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(asked["tables"][name]["folder"])


def by_arrow(read):
    for name in asked["tables"]:
        connection = connect()
        connection.register("t", read(name))
        yield name, "t", duckdb_asker(connection), Dialect


def by_pyiceberg():
    return by_arrow(lambda name: static(name).scan().to_arrow())


def by_polars():
    import polars as pl

    return by_arrow(lambda name: pl.scan_iceberg(static(name), reader_override="native").collect().to_arrow())


def by_clickhouse():
    import chdb

    os.chdir("/")  # It reads files below the working folder only.

    def ask(sql):
        return json.loads(chdb.query(sql, "JSONCompactStrings").bytes())["data"][0]

    for name, table in asked["tables"].items():
        yield name, f"icebergLocal('{table['folder']}')", ask, ClickHouse


def spark_session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": asked["jar"],
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.catalog.ton": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ton.type": "hadoop",
        "spark.sql.catalog.ton.warehouse": asked["warehouse"],
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def by_spark():
    session = spark_session()
    for name in asked["tables"]:
        yield name, f"ton.iceberg.{name}", lambda sql: list(session.sql(sql).collect()[0]), Spark


def old_rows(engine):
    """Rows of the snapshot that a tag names."""
    name, tag = asked["old"]["table"], asked["old"]["tag"]
    snapshot = static(name).snapshot_by_name(tag).snapshot_id
    if engine == "duckdb":
        source = f"iceberg_scan('{asked['tables'][name]['folder']}', snapshot_from_id = {snapshot})"
        return connect("avro", "iceberg").execute(f"SELECT count(*) FROM {source}").fetchone()[0]
    if engine == "pyiceberg":
        return static(name).scan(snapshot_id=snapshot).to_arrow().num_rows
    if engine == "polars":
        import polars as pl

        return pl.scan_iceberg(static(name), snapshot_id=snapshot, reader_override="native").collect().height
    if engine == "spark":
        return spark_session().sql(f"SELECT count(*) FROM ton.iceberg.{name} VERSION AS OF '{tag}'").collect()[0][0]
    import chdb

    settings = f"SETTINGS iceberg_snapshot_id = {snapshot}"
    return int(str(chdb.query(f"SELECT count() FROM icebergLocal('{asked['tables'][name]['folder']}') {settings}", "TSV")))


expected, sources = {}, {"truth": truth}
sources |= {name: globals()[f"by_{name}"] for name in engines}
day_truth = None
for engine, tables in sources.items():
    started = time.time()
    told = {"engine": engine, "tables": 0, "figures": 0, "differ": []}
    try:
        for name, source, ask, dialect in tables():
            found = profile(asked["tables"][name]["folder"], source, ask, dialect)
            if engine == "truth":
                expected[name] = found
            elif name not in expected:
                # A table without files: no rows, no values.
                expected[name] = {key: value for key, value in found.items() if value in (None, "0")}
            told["tables"] += 1
            told["figures"] += len(found)
            wrong = [key for key in expected[name] | found if expected[name].get(key) != found.get(key)]
            told["differ"] += [f"{name}.{key}: {expected[name].get(key)!r}, {found.get(key)!r}"[:200] for key in wrong]
            if name == asked["old"]["table"]:
                day = [str(value) for value in ask(day_sql(source, dialect))]
                day_truth = day if engine == "truth" else day_truth
                if day != day_truth:
                    told["differ"].append(f"{name} of {asked['day']}: {day_truth}, {day}")
        told["seconds"] = round(time.time() - started, 1)
        if engine != "truth":
            told["old"] = old_rows(engine)
    except Exception as error:
        told["failed"] = f"{type(error).__name__}: {str(error)[:300]}"
    print("RESULT", json.dumps(told), flush=True)
    if engine == "truth" and "failed" in told:
        break
