"""requests, pandas.json_normalize, Parquet.

python pandas_normalize.py BASE ROWS OUT
"""

import json
import sys

import pandas as pd
import requests

base, rows, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
session = requests.Session()
records = []
while len(records) < rows:
    params = {"limit": 1000, "offset": len(records), "sort": "asc"}
    response = session.get(f"{base}/transactions", params=params)
    response.raise_for_status()
    records += response.json()["transactions"]
transactions = pd.json_normalize(records, sep="_").drop(columns=["out_msgs"])
messages = pd.json_normalize(records, record_path="out_msgs", meta=["hash"], meta_prefix="tx_", sep="_")
for name, frame in (("transactions", transactions), ("messages", messages)):
    texts = frame.select_dtypes(include="object").columns
    frame[texts] = frame[texts].map(lambda value: json.dumps(value) if isinstance(value, (dict, list)) else value)
    frame.to_parquet(f"{out}/pandas_{name}.parquet", compression="zstd")
print(json.dumps({"rows": len(records)}))
