#!/usr/bin/env bash
# What works without an exporter: pages by curl, eight at once, into files, which DuckDB reads then.
#   bash bench/peers/curl.sh ADDRESSES OUT [--compressed]     ADDRESSES: one a line
set -euo pipefail
addresses=$1 out=$2
rm -rf "$out/curl"
mkdir "$out/curl"
awk -v out="$out/curl" '{ printf "url = \"%s\"\noutput = \"%s/%06d.json\"\n", $0, out, NR }' "$addresses" |
  curl --silent --fail --parallel --parallel-max 8 --config - "${@:3}"
exec node "$(dirname "$0")/duckdb.mjs" "$out/curl" "$out"
