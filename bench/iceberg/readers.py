"""python readers.py FOLDER ENGINE...: asks engines for count, nulls, least, greatest and sum of every column of every published table.

FOLDER has `asked.json`: {"tables": {name: {"location", "metadata", "fields", "files"}}, "old": {"table", "tag"}, "day": ...}, and
`extensions/` with DuckDB's extensions. With "store": {"endpoint", "key", "secret"} the tables lie in a bucket. The truth is what DuckDB says
of the Parquet files. Prints one JSON object per engine.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

import duckdb

folder, *engines = sys.argv[1:]
asked = json.load(open(f"{folder}/asked.json"))
os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"


store = asked.get("store")


def mark(text):
    """Tells the bench, which sees the requests to the store, what the next ones are for."""
    if store is not None:
        try:
            urllib.request.urlopen(f"{store['endpoint']}/mark/{text}")
        except urllib.error.HTTPError:
            pass


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
    for name, type_ in table["fields"]:
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
    for name in [*extensions, *(["httpfs"] if store else [])]:
        connection.execute(f"LOAD {name}")
    if store:
        host = store["endpoint"].removeprefix("http://")
        connection.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{store['key']}', SECRET '{store['secret']}', REGION 'us-east-1', "
            f"ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false)"
        )
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
        yield name, f"iceberg_scan('{table['location']}')", ask, Dialect


def static(name):
    from pyiceberg.table import StaticTable

    access = {}
    if store:
        access = {"s3.endpoint": store["endpoint"], "s3.access-key-id": store["key"], "s3.secret-access-key": store["secret"]}
        access["s3.region"] = "us-east-1"
    return StaticTable.from_metadata(asked["tables"][name]["location"], access)


class Arrow:
    """Asks DuckDB about what an engine has read: a whole table, or the rows of a day, which the engine has to choose."""

    def __init__(self, read):
        self.read = read
        self.connections = {}

    def __call__(self, sql):
        day = sql.split("WHERE", 1)[1:]
        if str(day) not in self.connections:
            self.connections[str(day)] = connect()
            self.connections[str(day)].register("t", self.read(bool(day)))
        return duckdb_asker(self.connections[str(day)])(sql)


def by_pyiceberg():
    def read(name, of_day):
        if not of_day:
            return static(name).scan().to_arrow()
        day = f"block_date = '{asked['day']}'"
        return static(name).scan(row_filter=day, selected_fields=("block_date", "total_fees")).to_arrow()

    for name in asked["tables"]:
        yield name, "t", Arrow(lambda of_day, name=name: read(name, of_day)), Dialect


def by_polars():
    import datetime

    import polars as pl

    def read(name, of_day):
        frame = pl.scan_iceberg(static(name), reader_override="native")
        if of_day:
            frame = frame.filter(pl.col("block_date") == datetime.date.fromisoformat(asked["day"]))
            frame = frame.select("block_date", "total_fees")
        return frame.collect().to_arrow()

    for name in asked["tables"]:
        yield name, "t", Arrow(lambda of_day, name=name: read(name, of_day)), Dialect


def clickhouse_source(location):
    if store is None:
        return f"icebergLocal('{location}')"
    return f"icebergS3('{store['endpoint']}/{location.removeprefix('s3://')}', '{store['key']}', '{store['secret']}')"


def by_clickhouse():
    import chdb

    os.chdir("/")  # It reads files below the working folder only.

    def ask(sql):
        return json.loads(chdb.query(sql, "JSONCompactStrings").bytes())["data"][0]

    for name, table in asked["tables"].items():
        yield name, clickhouse_source(table["location"]), ask, ClickHouse


def spark_session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": ",".join(asked["jars"]),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.catalog.ton": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ton.warehouse": asked["warehouse"],
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }
    if store:
        os.environ.update(AWS_ACCESS_KEY_ID=store["key"], AWS_SECRET_ACCESS_KEY=store["secret"], AWS_REGION="us-east-1")
        settings |= {
            "spark.sql.catalog.ton.type": "jdbc",
            "spark.sql.catalog.ton.uri": f"jdbc:sqlite:{folder}/catalog.db",
            "spark.sql.catalog.ton.jdbc.schema-version": "V1",
            "spark.sql.catalog.ton.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "spark.sql.catalog.ton.s3.endpoint": store["endpoint"],
            "spark.sql.catalog.ton.s3.path-style-access": "true",
        }
    else:
        settings["spark.sql.catalog.ton.type"] = "hadoop"
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def by_spark():
    session = spark_session()
    if store:
        session.sql("CREATE NAMESPACE ton.iceberg")
    for name, table in asked["tables"].items():
        if store:
            session.sql(
                f"CALL ton.system.register_table(table => 'iceberg.{name}', metadata_file => '{table['metadata']}')"
            )
        yield name, f"ton.iceberg.{name}", lambda sql: list(session.sql(sql).collect()[0]), Spark


def old_rows(engine):
    """Rows of the snapshot that a tag names."""
    name, tag = asked["old"]["table"], asked["old"]["tag"]
    snapshot = static(name).snapshot_by_name(tag).snapshot_id
    if engine == "duckdb":
        source = f"iceberg_scan('{asked['tables'][name]['location']}', snapshot_from_id = {snapshot})"
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
    source = clickhouse_source(asked["tables"][name]["location"])
    return int(str(chdb.query(f"SELECT count() FROM {source} {settings}", "TSV")))


expected, sources = {}, {"truth": truth}
sources |= {name: globals()[f"by_{name}"] for name in engines}
day_truth = None
for engine, tables in sources.items():
    started = time.time()
    told = {"engine": engine, "tables": 0, "figures": 0, "differ": []}
    try:
        for name, source, ask, dialect in tables():
            if name == asked["old"]["table"]:
                # Before all is read: engines keep what they have read.
                mark(f"day-{engine}")
                day = [str(value) for value in ask(day_sql(source, dialect))]
                mark("end")
                day_truth = day if engine == "truth" else day_truth
                if day != day_truth:
                    told["differ"].append(f"{name} of {asked['day']}: {day_truth}, {day}")
            found = profile(asked["tables"][name], source, ask, dialect)
            if engine == "truth":
                expected[name] = found
            elif name not in expected:
                # A table without files: no rows, no values.
                expected[name] = {key: value for key, value in found.items() if value in (None, "0")}
            told["tables"] += 1
            told["figures"] += len(found)
            wrong = [key for key in expected[name] | found if expected[name].get(key) != found.get(key)]
            told["differ"] += [f"{name}.{key}: {expected[name].get(key)!r}, {found.get(key)!r}"[:200] for key in wrong]
        told["seconds"] = round(time.time() - started, 1)
        if engine != "truth":
            told["old"] = old_rows(engine)
    except Exception as error:
        told["failed"] = f"{type(error).__name__}: {str(error)[:300]}"
    print("RESULT", json.dumps(told), flush=True)
    if engine == "truth" and "failed" in told:
        break
