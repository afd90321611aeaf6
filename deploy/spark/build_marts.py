"""Builds the marts of tonlake on Spark, over the Iceberg tables that tonlake publishes.

  spark-submit --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 --conf spark.sql.catalog.ton=... \\
    build_marts.py --from ton.iceberg --into ton.marts

In cluster mode, add --py-files duckdb_to_spark.py.

The files of sql/marts are written for DuckDB, and translated when this runs. A mart whose header says `incremental: block_date` is built
for the days whose input files changed since it was built; any other mart is built anew if any of its inputs changed. A mart changes in one
commit. Exit code: 0 if all marts are current, 1 if some could not be built or were refused, or a test found rows, 2 for wrong arguments.
"""

import argparse
import datetime
import hashlib
import json
import logging
import pathlib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, reduce

from duckdb_to_spark import Macro, Untranslatable, parse, read_macros, translate
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from sqlglot import exp


@dataclass
class Select:
    """A file of SQL with the header that tonlake gives them."""

    name: str
    sql: str
    header: dict[str, str]
    columns: dict[str, str] = field(default_factory=dict)

    def listed(self, key: str) -> list[str]:
        return [name.strip() for name in self.header.get(key, "").split(",") if name.strip()]

    @cached_property
    def tree(self) -> exp.Expression:
        return parse(self.sql)

    @property
    def inputs(self) -> list[str]:
        return self.listed("inputs") + self.listed("optional")

    def read_days(self, days: list[str]) -> list[str]:
        """The days whose rows some days of a mart are made of: its blocks `before` a day are of the day before."""
        ends = [datetime.date.fromisoformat(day) - datetime.timedelta(days=1) for day in days if "before" in self.header]
        return sorted({*days, *(end.isoformat() for end in ends)})


def read_selects(folders: list[pathlib.Path], kind: str) -> dict[str, Select]:
    """The files of `kind` by name; those of a later folder replace earlier ones."""
    found = {}
    for path in (path for folder in folders for path in sorted((folder / kind).glob("*.sql"))):
        sql = path.read_text()
        lines = [line[3:] for line in sql.splitlines() if line.startswith("-- ")]
        header = dict(re.fullmatch(r"(\w+): (.*)", line).groups() for line in lines if re.fullmatch(r"(\w+): (.*)", line))
        columns = {m[1]: m[2] for line in lines if (m := re.fullmatch(r"  (\w+)(?: \([^)]*\))?: (.*)", line))}
        found[path.stem] = Select(path.stem, sql.rstrip().rstrip(";"), header, columns)
    return found


def in_order(selects: dict[str, Select], wanted: list[str]) -> list[Select]:
    """The wanted selects and those that they read, each after its inputs."""
    order: list[Select] = []

    def visit(name: str) -> None:
        for each in selects[name].inputs:
            if each in selects:
                visit(each)
        if selects[name] not in order:
            order.append(selects[name])

    for name in wanted:
        visit(name)
    return order


@dataclass
class Input:
    """A table at the snapshot that this build reads."""

    table: str
    snapshot: int
    # Fingerprint of the data files by UTC day; of all of them under None where the table has no days.
    days: dict[str | None, str]
    # What tonlake says of the snapshot.
    summary: dict[str, str] = field(default_factory=dict)

    def coverage(self, day: str | None, columns: set[str]) -> str:
        """What is proven of a day, or of all rows: `proven`, `unproven` or `missing`, as also where an export left out one of some columns."""
        for column, runs in json.loads(self.summary.get("tonlake.left-out", "{}")).items():
            if column in {*columns, "*"} and (day is None or within(day, runs)):
                return "missing"
        if day is None:
            return self.summary.get("tonlake.coverage", "missing")
        states = (state for state in ("proven", "unproven") if within(day, self.summary.get(f"tonlake.{state}-days", "")))
        return next(states, "missing")


def within(day: str, runs: str) -> bool:
    """True if a day is in one of some runs: `2026-05-01/2026-05-07 2026-05-09/2026-05-09`."""
    return any(first <= day <= last for first, last in (run.split("/") for run in runs.split()))


def describe(states: dict[str, str]) -> str:
    """`2026-05-03 (missing), 2026-05-04/2026-05-09 (unproven)`."""
    runs: list[list[str]] = []
    for day, state in sorted(states.items()):
        follows = runs and day != "all" and datetime.date.fromisoformat(day) - datetime.date.fromisoformat(runs[-1][1]) == datetime.timedelta(days=1)
        if follows and runs[-1][2] == state:
            runs[-1][1] = day
        else:
            runs.append([day, day, state])
    return ", ".join(f"{first if first == last else f'{first}/{last}'} ({state})" for first, last, state in runs)


class Build:
    def __init__(self, spark: SparkSession, options: argparse.Namespace, marts: dict[str, Select], macros: dict[str, Macro]):
        self.spark, self.marts, self.macros = spark, marts, macros
        self.source, self.target, self.is_strict = options.source, options.target, options.strict
        self.inputs: dict[str, Input] = {}
        # Marts that were planned and not built, in a dry run.
        self.planned: set[str] = set()

    def exists(self, table: str) -> bool:
        return self.spark.catalog.tableExists(table)

    def refs(self, tables: Iterable[str]) -> dict[str, dict[str, int]]:
        """Snapshots of tables by the names of their branches and tags; `main` is the newest one."""
        found: dict[str, dict[str, int]] = {table: {} for table in tables}
        for row in self.union(self.spark.table(f"{table}.refs").select(lit(table).alias("table"), "name", "snapshot_id") for table in found):
            found[row.table][row.name] = row.snapshot_id
        return found

    def newest(self, table: str) -> int:
        return self.refs([table])[table]["main"]

    @staticmethod
    def union(frames: Iterable[DataFrame]) -> list:
        """Rows of frames, in one job."""
        frames = list(frames)
        return reduce(DataFrame.union, frames).collect() if frames else []

    def pin(self, selects: list[Select]) -> str:
        """Chooses one snapshot of each table: those of the newest ledger entry that all of them show."""
        made = {select.name for select in selects}
        tables = {name for select in selects for name in select.inputs if name not in made and self.exists(f"{self.source}.{name}")}
        refs = self.refs(f"{self.source}.{name}" for name in tables)
        tags = {name: refs[f"{self.source}.{name}"] for name in tables}
        common = set.intersection(*(set(each) for each in tags.values())) if tags else set()
        entries = [tag for tag in common if re.fullmatch(r"entry-\d+", tag)]
        if not entries:
            raise SystemExit(f"error: expected a ledger entry that all of {', '.join(sorted(tables))} show; hint: publish again")
        tag = max(entries, key=lambda each: int(each[6:]))
        self.read_inputs({name: (f"{self.source}.{name}", tags[name][tag]) for name in tables})
        return tag

    def read_inputs(self, tables: dict[str, tuple[str, int]]) -> None:
        """Reads what tables are at some snapshots, by the names under which marts read them."""
        paths: dict[str, dict[str | None, list[str]]] = {name: {} for name in tables}
        for name, day, path in self.union(self.files(name, *at) for name, at in tables.items()):
            paths[name].setdefault(day, []).append(path)
        frames = (self.spark.table(f"{table}.snapshots").where(col("snapshot_id") == at).select(lit(name), "summary") for name, (table, at) in tables.items())
        summaries = dict(self.union(frames))
        for name, (table, snapshot) in tables.items():
            days = {day: fingerprint(sorted(files)) for day, files in paths[name].items()}
            self.inputs[name] = Input(table, snapshot, days, summaries.get(name, {}))

    def files(self, name: str, table: str, snapshot: int) -> DataFrame:
        """Data files of a table with their days."""
        files = self.spark.sql(f"SELECT * FROM {table}.files VERSION AS OF {snapshot}")
        day = "CAST(partition.block_date AS STRING)" if "partition" in files.columns else "CAST(NULL AS STRING)"
        return files.selectExpr(f"'{name}' AS name", f"{day} AS day", "file_path")

    def coverage(self, mart: Select, day: str) -> str:
        """The least that is proven of what a day of a mart is made of, or the whole mart for `all`."""
        columns = {column.name for column in mart.tree.find_all(exp.Column)}
        states = ["proven"]
        for name in mart.inputs:
            if name in self.marts:
                states.append(self.coverage(self.marts[name], day))
            else:
                known = self.inputs.get(name) or Input(name, 0, {})
                states += [known.coverage(each, columns) for each in ([None] if day == "all" else mart.read_days([day]))]
        return min(states, key=["missing", "unproven", "proven"].index)

    def stamps(self, mart: Select) -> dict[str, str]:
        """What each day of a mart is made of, or the whole mart under `all`."""
        inputs = [self.inputs[name] for name in mart.inputs if name in self.inputs]
        undated = [each.days[None] for each in inputs if None in each.days]
        days = sorted({day for each in inputs for day in each.days if day is not None})
        if mart.header.get("incremental") != "block_date":
            return {"all": fingerprint([*undated, *(f"{day} {each.days.get(day)}" for each in inputs for day in days)])}
        return {
            day: fingerprint([*undated, *(str(each.days.get(read)) for each in inputs for read in mart.read_days([day]))])
            for day in days
        }

    def missing(self, mart: Select) -> list[str]:
        tree = mart.tree
        own = {cte.alias for cte in tree.find_all(exp.CTE)} | set(mart.inputs)
        others = {table.name for table in tree.find_all(exp.Table)} - own
        return sorted({*others, *mart.listed("inputs")} - {*self.inputs, *self.planned})

    def select(self, mart: Select, sql: str, days: list[str] | None = None):
        """The rows of a mart by its translated select, of some days or of all."""
        for name in set(mart.inputs) - self.planned:
            if name not in self.inputs:
                self.empty_input(mart, name)
                continue
            each = self.inputs[name]
            frame = self.spark.sql(f"SELECT * FROM {each.table} VERSION AS OF {each.snapshot}")
            if days is not None and None not in each.days:
                frame = frame.where(in_days(mart.read_days(days)))
            frame.createOrReplaceTempView(name)
        frame = self.spark.sql(sql)
        if days is not None:
            frame = frame.where(in_days(days))
        for column in frame.columns:
            frame = frame.withMetadata(column, {"comment": mart.columns.get(column, "")})
        return frame

    def empty_input(self, mart: Select, name: str) -> None:
        """An optional table that was never exported has no rows, and the columns that the select names."""
        columns = sorted({column.name for column in mart.tree.find_all(exp.Column)})
        self.spark.createDataFrame([], ", ".join(f"`{column}` STRING" for column in columns)).createOrReplaceTempView(name)

    def properties(self, table: str) -> dict[str, str]:
        if not self.exists(table):
            return {}
        return {row.key: row.value for row in self.spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}

    def build(self, mart: Select) -> tuple[str, bool]:
        """Brings a mart up to date. Returns what was done, and whether days were refused."""
        stamps = self.stamps(mart)
        states = {day: self.coverage(mart, day) for day in stamps}
        lacking = {day: state for day, state in states.items() if state != "proven"}
        refused = lacking if self.is_strict else {}
        done = self.build_days(mart, {day: stamp for day, stamp in stamps.items() if day not in refused}, bool(refused))
        return done + (f"; {'refused' if refused else 'not proven'}: {describe(lacking)}" if lacking else ""), bool(refused)

    def build_days(self, mart: Select, stamps: dict[str, str], is_part: bool) -> str:
        """Builds what changed of some days, or of the whole mart. `is_part`: other days stay as they are."""
        table = f"{self.target}.{mart.name}"
        state = self.properties(table)
        before = json.loads(state.get("tonlake.inputs", "{}"))
        is_daily = mart.header.get("incremental") == "block_date"
        sql = translate(mart.sql, self.macros)
        text = fingerprint([sql])
        anew = state.get("tonlake.select") != text
        changed = sorted(day for day in stamps if stamps[day] != before.get(day))
        if is_part and not stamps:
            if not state:
                return "not built"
            done = "as before"
        elif not anew and not changed:
            done = "current"
        elif anew or not is_daily:
            writer = self.select(mart, sql, sorted(stamps) if is_part else None).writeTo(table).using("iceberg").tableProperty("comment", mart.header.get("question", ""))
            for key, value in self.state_of(text, stamps).items():
                writer = writer.tableProperty(key, value)
            if is_daily:
                writer = writer.partitionedBy(col("block_date"))
            writer.createOrReplace()
            done = f"{len(stamps)} days built" if is_daily else "built"
        else:
            self.replace_days(table, changed, self.select(mart, sql, changed))
            # A day whose inputs were forgotten keeps its rows.
            state = self.state_of(text, {**before, **stamps})
            pairs = ", ".join(f"'{key}' = '{value}'" for key, value in state.items())
            # If this is not reached, the same days are built again.
            self.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({pairs})")
            done = f"{len(changed)} of {len(stamps)} days built"
        self.read_inputs({mart.name: (table, self.newest(table))})
        return done

    def plan(self, mart: Select) -> str:
        """Lets Spark plan a mart. Returns what would be done."""
        self.select(mart, translate(mart.sql, self.macros)).createOrReplaceTempView(mart.name)
        self.planned.add(mart.name)
        return "can be built"

    def test(self, check: Select) -> list:
        """The first rows that break a rule."""
        return self.select(check, translate(check.sql, self.macros)).limit(5).collect()

    def replace_days(self, table: str, days: list[str], rows) -> None:
        # Another build that replaced one of these days meanwhile makes this one fail.
        writer = rows.writeTo(table).option("isolation-level", "serializable")
        writer = writer.option("validate-from-snapshot-id", self.newest(table))
        writer.overwrite(in_days(days))

    @staticmethod
    def state_of(text: str, stamps: dict[str, str]) -> dict[str, str]:
        return {"tonlake.select": text, "tonlake.inputs": json.dumps(stamps, separators=(",", ":"))}


def in_days(days: list[str]):
    return col("block_date").isin([datetime.date.fromisoformat(day) for day in days])


def fingerprint(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


# Command line


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Builds the marts of tonlake on Spark, over published Iceberg tables.")
    parser.add_argument("--from", dest="source", required=True, metavar="CATALOG.NAMESPACE", help="the published tables")
    parser.add_argument("--into", dest="target", required=True, metavar="CATALOG.NAMESPACE", help="where the marts go")
    shipped = pathlib.Path(__file__).resolve().parents[2] / "sql"
    parser.add_argument("--sql", type=pathlib.Path, action="append", default=[], metavar="DIR", help="a folder with marts/ of your own")
    parser.add_argument("--shipped", type=pathlib.Path, default=shipped, metavar="DIR", help="the folder sql of tonlake")
    parser.add_argument("--marts", nargs="+", metavar="NAME", help="these marts, and those that they read (default: all)")
    parser.add_argument("--strict", action="store_true", help="build no day of which tonlake has not proven all input rows, and exit with 1")
    parser.add_argument("--dry-run", action="store_true", help="translate the selects and let Spark plan them; build nothing")
    parser.add_argument("--test", action="store_true", help="then run the tests of sql/checks: each row that one returns is an offender")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    folders = [options.shipped, *options.sql]
    marts = read_selects(folders, "marts")
    unknown = sorted(set(options.marts or []) - set(marts))
    if unknown or not marts:
        print(f"error: expected marts of {', '.join(map(str, folders))}, got {', '.join(unknown) or 'none'}", file=sys.stderr)
        return 2
    macros = read_macros((options.shipped / "macros.sql").read_text())
    order = in_order(marts, options.marts or list(marts))
    tests = list(read_selects(folders, "checks").values()) if options.test and not options.dry_run else []

    # The reason is told in one line below.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    spark = SparkSession.builder.appName("tonlake marts").getOrCreate()
    # What the translation relies on: an overflow is an error, times have no zone.
    for key, value in {"ansi.enabled": "true", "session.timeZone": "UTC", "timestampType": "TIMESTAMP_NTZ"}.items():
        spark.conf.set(f"spark.sql.{key}", value)
    build = Build(spark, options, marts, macros)
    if not options.dry_run:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {options.target}")
    print(f"tables at {build.pin([*order, *tests])}", flush=True)
    failed = False
    for select in [*order, *tests]:
        try:
            if missing := build.missing(select):
                print(f"{select.name}: skipped, without {', '.join(missing)}", flush=True)
                failed |= select.name in (options.marts or [])
            elif select in tests:
                rows = build.test(select)
                failed |= bool(rows)
                print(f"{select.name}: {f'failed, as by {rows[0].asDict()}' if rows else 'passed'}", flush=True)
            elif options.dry_run:
                print(f"{select.name}: {build.plan(select)}", flush=True)
            else:
                done, is_refused = build.build(select)
                failed |= is_refused
                print(f"{select.name}: {done}", flush=True)
        except (Untranslatable, PySparkException) as error:
            failed = True
            print(f"{select.name}: error: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
