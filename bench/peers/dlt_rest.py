"""dlt's own REST source with its offset paginator, into DuckDB. Tuned by the environment that the bench sets.

python dlt_rest.py BASE ROWS OUT
"""

import json
import os
import shutil
import sys

import dlt
from dlt.sources.helpers.rest_client.paginators import OffsetPaginator
from dlt.sources.rest_api import rest_api_source

base, rows, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
folder = f"{out}/dlt"
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
source = rest_api_source(
    {
        "client": {
            "base_url": f"{base}/",
            "paginator": OffsetPaginator(limit=1000, total_path=None, stop_after_empty_page=True, maximum_offset=rows),
        },
        "resource_defaults": {"primary_key": "hash", "write_disposition": "append"},
        "resources": [
            {
                "name": "transactions",
                "endpoint": {"path": "transactions", "params": {"sort": "asc"}, "data_selector": "transactions"},
            }
        ],
    },
    name="ton_index",
)
pipeline = dlt.pipeline(
    pipeline_name="ton",
    pipelines_dir=f"{folder}/state",
    destination=dlt.destinations.duckdb(f"{folder}/lake.duckdb"),
    dataset_name="ton",
)
pipeline.extract(source, loader_file_format=os.environ.get("BENCH_FILE_FORMAT"))
pipeline.normalize()
pipeline.load()
print(json.dumps({"rows": pipeline.last_trace.last_normalize_info.row_counts["transactions"]}))
