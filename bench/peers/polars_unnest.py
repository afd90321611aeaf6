"""httpx, polars.read_json of each page with a schema inferred from the first one, structs unnested, Parquet.

python polars_unnest.py BASE ROWS OUT
"""

import io
import json
import sys

import httpx
import polars as pl

base, rows, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def flat(frame):
    while True:
        structs = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Struct) and kind.fields]
        if not structs:
            break
        frame = frame.unnest(*structs, separator="_")
    return frame.drop([name for name, kind in frame.schema.items() if isinstance(kind, pl.Struct)])


client = httpx.Client(timeout=60)
schema = None
transactions, messages = [], []
offset = 0
while offset < rows:
    params = {"limit": 1000, "offset": offset, "sort": "asc"}
    body = client.get(f"{base}/transactions", params=params).raise_for_status().content
    if schema is None:
        first = pl.read_json(io.BytesIO(body), infer_schema_length=None)
        schema = pl.Schema({"transactions": first.schema["transactions"]})
    page = pl.read_json(io.BytesIO(body), schema=schema).select(pl.col("transactions").explode().struct.unnest())
    offset += len(page)
    transactions.append(flat(page.drop("out_msgs")))
    out_msgs = page.select(pl.col("hash").alias("tx_hash"), pl.col("out_msgs")).explode("out_msgs")
    messages.append(flat(out_msgs.drop_nulls("out_msgs").unnest("out_msgs")))
pl.concat(transactions).write_parquet(f"{out}/polars_transactions.parquet", compression="zstd")
pl.concat(messages).write_parquet(f"{out}/polars_messages.parquet", compression="zstd")
print(json.dumps({"rows": offset}))
