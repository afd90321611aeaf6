"""Selects of DuckDB as selects of Spark with the same rows, by sqlglot; what would give other rows is refused."""

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

HUGE = exp.DataType.build("DECIMAL(38, 0)")
# Integer types of DuckDB that Spark lacks.
TYPES = {
    exp.DataType.Type.INT128: HUGE,
    exp.DataType.Type.UINT128: HUGE,
    exp.DataType.Type.UBIGINT: exp.DataType.build("DECIMAL(20, 0)"),
    exp.DataType.Type.UINT: exp.DataType.build("BIGINT"),
    exp.DataType.Type.TIMESTAMP: exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"),
}


class Untranslatable(Exception):
    """A select that Spark would not run, or would answer with other rows."""


@dataclass
class Macro:
    parameters: list[str]
    defaults: dict[str, exp.Expression]
    body: exp.Expression


def read_macros(text: str) -> dict[str, Macro]:
    """The macros of sql/macros.sql by name."""
    macros = {}
    for name, parameters, body in re.findall(r"CREATE OR REPLACE MACRO (\w+)\((.*?)\) AS\n(.*?);\n\n", text + "\n", re.DOTALL):
        names, defaults = [], {}
        for parameter in filter(None, re.split(r",\s*", parameters)):
            word, _, default = parameter.partition(" := ")
            names.append(word)
            if default:
                defaults[word] = sqlglot.parse_one(default, read="duckdb")
        macros[name] = Macro(names, defaults, sqlglot.parse_one(f"SELECT {body}", read="duckdb").expressions[0])
    return macros


def expand(tree: exp.Expression, macros: dict[str, Macro]) -> exp.Expression:
    """Calls of macros become their bodies, until none is left."""

    def replace(node: exp.Expression) -> exp.Expression:
        macro = macros.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
        if macro is None:
            return node
        values = dict(macro.defaults)
        for at, given in enumerate(node.expressions):
            if isinstance(given, exp.PropertyEQ):
                values[given.this.name] = given.expression
            else:
                values[macro.parameters[at]] = given
        body = macro.body.copy().transform(
            lambda each: exp.paren(expand(values[each.name].copy(), macros))
            if isinstance(each, exp.Column) and not each.table and each.name in values
            else each
        )
        return exp.paren(expand(body, macros))

    return tree.transform(replace)


def whole(node: exp.Expression) -> exp.Expression:
    return exp.Cast(this=exp.paren(node.copy()), to=HUGE.copy())


def not_zero(node: exp.Expression) -> exp.Expression:
    """A divisor: DuckDB gives null where Spark fails."""
    return node.copy() if isinstance(node, exp.Literal) else exp.Nullif(this=node.copy(), expression=exp.Literal.number(0))


def with_filter(node: exp.Expression, condition: exp.Expression) -> None:
    """Adds a condition to an aggregate."""
    if isinstance(node.parent, exp.Window):
        raise Untranslatable(f"{node.key} as a window function")
    if isinstance(node.parent, exp.Filter):
        where = node.parent.expression
        where.set("this", exp.and_(where.this.copy(), condition))
    else:
        node.replace(exp.Filter(this=node.copy(), expression=exp.Where(this=condition)))


def divide(node: exp.IntDiv) -> exp.Expression:
    # Spark's `div` gives a BIGINT, and `/` of decimals keeps 6 digits of 38: the quotient of a multiple is exact.
    number, divisor = whole(node.this), whole(not_zero(node.expression))
    multiple = exp.paren(exp.Sub(this=number, expression=exp.Mod(this=number.copy(), expression=divisor)))
    # What a TRY_CAST turns to null may also be too large for the division.
    quotient = (
        exp.Anonymous(this="try_divide", expressions=[multiple, divisor.copy()])
        if node.find_ancestor(exp.TryCast)
        else exp.Div(this=multiple, expression=divisor.copy(), typed=True)
    )
    return exp.Cast(this=quotient, to=HUGE.copy())


def power_of_ten(node: exp.Expression) -> int | None:
    """s for a literal 10^-s, also as a DECIMAL."""
    text = node.this.name if isinstance(node, exp.Cast) else node.name
    found = re.fullmatch(r"0?\.(0*1)", text)
    return len(found[1]) if found else None


def disc(node: exp.Expression) -> exp.Expression:
    # Spark's percentile_disc gives a DOUBLE.
    value, share = node.this.copy(), node.expression.copy()
    place = f"CAST(greatest(ceil({share.sql('spark')} * count({value.sql('spark')})), 1) AS INT)"
    return sqlglot.parse_one(f"try_element_at(array_sort(collect_list({value.sql('spark')})), {place})", read="spark")


def parse(sql: str) -> exp.Expression:
    """Raises Untranslatable, with the place of the mistake."""
    try:
        return sqlglot.parse_one(sql, read="duckdb")
    except SqlglotError as error:
        raise Untranslatable(re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()[0]) from None


def translate(sql: str, macros: dict[str, Macro]) -> str:
    """
    A select of DuckDB as one of Spark with the same rows.

    Raises Untranslatable, with the part that has no form in Spark.
    """
    tree = expand(parse(sql), macros)

    for node in list(tree.find_all(exp.DataType)):
        if node.this in TYPES:
            node.replace(TYPES[node.this].copy())
    for node in list(tree.find_all(exp.ArgMax, exp.ArgMin)):
        # DuckDB passes over rows without the value.
        with_filter(node, exp.paren(node.this.copy()).is_(exp.null()).not_())
    for node in list(tree.find_all(exp.RegexpReplace)):
        pattern = node.expression.name
        if node.args.get("modifiers") is None and not (pattern.startswith("^") or pattern.endswith("$")):
            raise Untranslatable("regexp_replace of the first match alone; hint: give 'g', or a pattern with ^ or $")

    statement = exp.Subquery(this=tree)
    # Inner parts first: what is made of a part repeats it.
    for node in reversed(list(tree.walk(bfs=False))):
        if (changed := spark_form(node)) is not node:
            node.replace(changed)
    return statement.this.sql(dialect="spark", comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE)


def spark_form(node: exp.Expression) -> exp.Expression:
    """What Spark calls a part of a select, or the part itself."""
    match node:
        case exp.Sum():
            # A sum of BIGINT is a BIGINT in Spark, and one of DECIMAL(20,0) is DECIMAL(30,0). Other numbers keep their type.
            empty = exp.Cast(this=exp.null(), to=exp.DataType.build("DECIMAL(20, 0)"))
            return exp.Sum(this=exp.Coalesce(this=node.this.copy(), expressions=[empty]))
        case exp.IntDiv():
            return divide(node)
        case exp.Mod() if not isinstance(node.expression.unnest(), exp.Literal):
            return exp.Mod(this=node.this.copy(), expression=not_zero(node.expression))
        case exp.Mul() if (scale := power_of_ten(node.expression.unnest())) is not None:
            # Spark's product of such decimals would lose its last digit.
            ten = exp.cast(exp.Literal.number(10**scale), f"DECIMAL({scale + 1}, 0)")
            return exp.Div(this=exp.paren(node.this.copy()), expression=ten, typed=True)
        case exp.PercentileDisc():
            return disc(node)
        case exp.Window() if isinstance(node.this, (exp.RowNumber, exp.Rank, exp.DenseRank)):
            return exp.cast(node.copy(), "BIGINT")
        case exp.TryCast() if node.to.this == exp.DataType.Type.JSON:
            return exp.Anonymous(this="try_parse_json", expressions=[node.this.copy()])
        case exp.JSONExtractScalar() if isinstance(node.this.unnest(), exp.Anonymous):
            path = exp.Literal.string(node.expression.sql("spark").strip("'"))
            return exp.Anonymous(this="try_variant_get", expressions=[node.this.copy(), path, exp.Literal.string("string")])
        case exp.Anonymous() if node.name.lower() == "error":
            return exp.Anonymous(this="raise_error", expressions=[each.copy() for each in node.expressions])
    return node
