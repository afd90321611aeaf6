"""A nightly tonlake job as an Airflow DAG. Airflow schedules it; each run is due at the end of its data interval."""

from datetime import datetime, timedelta, timezone

from airflow import DAG

try:
    from airflow.providers.standard.operators.bash import BashOperator
except ImportError:  # Airflow 2
    from airflow.operators.bash import BashOperator

with DAG(
    dag_id="tonlake_nightly_sandbox",
    schedule="15 3 * * *",
    start_date=datetime(2026, 5, 1, tzinfo=timezone.utc),
    catchup=True,
    # A warehouse accepts one run at a time; a second one would be refused.
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
) as dag:
    BashOperator(
        task_id="job",
        cwd="/opt/tonlake",
        bash_command="node dist/src/cli.js job run pipelines/jobs/nightly-sandbox.yaml --at '{{ data_interval_end.in_timezone(\"UTC\").strftime(\"%Y-%m-%dT%H:%M:%SZ\") }}'",
        env={"TONLAKE_API_KEY_FILE": "/etc/tonlake/key"},
        append_env=True,
    )
