import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createProgram, withAllBelow } from '../../src/cli/program.ts';
import { realEffects } from '../../src/core/effects.ts';
import { openSession } from '../../src/http/session.ts';
import { Health } from '../../src/resident/health.ts';
import { Metrics } from '../../src/resident/metrics.ts';
import { parseMetricsAddress } from '../../src/resident/metrics-server.ts';
import { freshFolder } from '../scratch.ts';
import { jobOf } from './support.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const isThere = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** As much of Airflow's package as the DAG uses, with the parameters of one run. */
const AIRFLOW_SDK = `
TASKS = {}
class Task:
    def __init__(self, function): self.function = TASKS[function.__name__] = function
    def __call__(self): return self
    def expand(self, **given): return self
    def __rshift__(self, other): return other
def task(function=None, **given): return Task(function) if function else Task
def Param(default, **given): return default
def get_current_context():
    params = dict(network="mainnet", range="2026-05", warehouse="s3://lake/w", pipelines=["transactions"], lists=[], catalog="", slices=4, rps=1.0)
    return {"params": {**params, "spark_submit": "build_marts.py --from ton.iceberg --into ton.marts"}}
`;

/** Arguments of tonlake in a text: what follows `dist/src/cli.js`, or `tonlake` at the start of a line. */
function commandsIn(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/(?:dist\/src\/cli\.js|^tonlake) ([^\n>"]*)/gm)].map(([, line = '']) =>
    (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1')),
  );
}

/** Finds the command and its options; job files among its arguments must be there. */
function expectKnown(words: readonly string[]): void {
  let command: Command = createProgram();
  const rest = [...words];
  for (let next = findBelow(command, rest[0]); next !== undefined; next = findBelow(command, rest[0])) {
    command = next;
    rest.shift();
  }
  expect(withAllBelow(createProgram()).map((each) => each.name())).toContain(command.name());
  expect(command.commands, words.join(' ')).toEqual([]);
  const flags = command.options.flatMap(({ long, short }) => [long, short]);
  for (const word of rest.filter((each) => each.startsWith('-'))) expect(flags, words.join(' ')).toContain(word);
  const paths = rest
    .filter((word) => word.startsWith('pipelines/'))
    .map((word) => word.replace('%i', 'nightly-sandbox'));
  for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true);
}

function findBelow(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

test.each(['crontab', 'tonlake-follow.service', 'tonlake-job@.service', 'tonlake.service', 'tonlake_dag.py'])(
  'the command lines of deploy/%s are of this program',
  (file) => {
    const commands = commandsIn(read(`deploy/${file}`));
    expect(commands.length).toBeGreaterThan(0);
    for (const words of commands) expectKnown(words);
  },
);

test('the line of cron has five fields, and a command that a shell can read', () => {
  const lines = read('deploy/crontab')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !/^\w+=/.test(line));
  expect(lines).toHaveLength(1);
  const [, command = ''] = /^\d+ \d+ \S+ \S+ \S+ (.*)$/.exec(lines[0] ?? '') ?? [];
  expect(spawnSync('sh', ['-n', '-c', command]).status).toBe(0);
  // cron takes a bare % for the end of the line.
  expect(command).not.toContain('%');
});

test.runIf(isThere('systemd-analyze'))('systemd takes the units', () => {
  const folder = freshFolder();
  const units = ['tonlake.service', 'tonlake-follow.service', 'tonlake-job@.service', 'tonlake-job@.timer'];
  for (const unit of units) {
    writeFileSync(join(folder, unit), read(`deploy/${unit}`).replace('/usr/bin/node', process.execPath));
  }
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units.map((unit) => join(folder, unit))], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  writeFileSync(
    join(folder, units[0] ?? ''),
    read('deploy/tonlake.service').replace('Restart=on-failure', 'Restart=maybe'),
  );
  expect(spawnSync('systemd-analyze', ['verify', join(folder, units[0] ?? '')], { encoding: 'utf8' }).stderr).toContain(
    'maybe',
  );
});

const PROMTOOL = process.env['TONLAKE_PROMTOOL'] ?? 'promtool';

test('every metric that an alert reads is one of the program', () => {
  const metrics = new Metrics(new Health(realEffects), { head: true, jobs: ['nightly'] });
  const names = [...read('deploy/tonlake-rules.yaml').matchAll(/tonlake_\w+/g)].map(([name]) => name);
  expect(names.length).toBeGreaterThan(4);
  return metrics.text().then((text) => {
    for (const name of names) expect(text).toContain(`# TYPE ${name} gauge`);
  });
});

test.runIf(isThere(PROMTOOL))('Prometheus rings the alerts: a late night, a hang, a job that never succeeded', () => {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ['test', 'rules', 'tonlake-rules.test.yaml'], {
    ...{ encoding: 'utf8', cwd: join(root, 'deploy') },
  });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
});

test.each(['tonlake.service', 'tonlake-follow.service', 'tonlake-job@.service'])(
  '%s can write its state, the warehouses and the outputs of the template, and nothing else',
  (unit) => {
    const text = read(`deploy/${unit}`);
    const [, paths = ''] = /^ReadWritePaths=(.*)$/m.exec(text) ?? [];
    expect(paths.split(' ')).toEqual(['/opt/tonlake/data', '-/opt/tonlake/out']);
    expect(read('templates/project/jobs/daily.yaml')).toContain('output: out/');
    expect(text).toContain('ProtectSystem=strict\n');
    const [, state = ''] = /^Environment=TONLAKE_STATE_DIR=\/var\/lib\/(.*)$/m.exec(text) ?? [];
    expect(text).toMatch(new RegExp(`^StateDirectory=${state}$`, 'm'));
  },
);

test('the units leave more time to end than the program takes', () => {
  const service = read('deploy/tonlake.service');
  const drain = Number(/--drain (\d+)/.exec(service)?.[1]);
  expect(Number(/TimeoutStopSec=(\d+)/.exec(service)?.[1])).toBeGreaterThan(drain + 30);
});

test.runIf(isThere('python3')).each(['tonlake_dag.py', 'tonlake_backfill_dag.py'])('%s is Python', (file) => {
  const folder = freshFolder();
  copyFileSync(join(root, `deploy/${file}`), join(folder, 'dag.py'));
  const { status, stderr } = spawnSync(
    'python3',
    ['-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())', join(folder, 'dag.py')],
    {
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('Docker', () => {
  const file = read('deploy/Dockerfile');
  const compose: unknown = parse(read('deploy/compose.yaml'));

  test('the image runs the schedule, and gets the signal to drain itself', () => {
    const words = (name: string): readonly string[] =>
      JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(file)?.[1] ?? '[]');
    expect(words('ENTRYPOINT')).toEqual(['node', 'dist/src/cli.js']);
    expectKnown(words('CMD'));
    const known = /^(#.*|FROM|WORKDIR|COPY|RUN|USER|VOLUME|STOPSIGNAL|ENTRYPOINT|CMD|HEALTHCHECK)( |$)/;
    expect(file.split('\n').filter((line) => line !== '' && !known.test(line))).toEqual([]);
  });

  test('the service of compose runs the schedule from the same image, with time to drain', () => {
    expect(compose).toMatchObject({
      services: {
        tonlake: {
          ...{ build: { dockerfile: 'deploy/Dockerfile' }, stop_grace_period: '100s' },
          // Without them the lock of a container that was killed would hold for good.
          ...{ hostname: 'tonlake', pid: 'host' },
        },
      },
    });
    const [, line = ''] = /command: \[(.*)\]/.exec(read('deploy/compose.yaml')) ?? [];
    const words = line.split(',').map((word) => word.trim().replace(/^'(.*)'$/, '$1'));
    expectKnown(words);
    // Loopback inside a container is of that container alone; the host publishes the port to itself.
    const address = words[words.indexOf('--metrics') + 1] ?? '';
    expect(parseMetricsAddress(address, words.includes('--metrics-public'))).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(compose).toMatchObject({ services: { tonlake: { ports: ['127.0.0.1:9464:9464'] } } });
  });
});

describe('several machines', () => {
  interface JobManifest {
    readonly spec: {
      readonly completionMode?: string;
      readonly completions: number;
      readonly parallelism: number;
      readonly podFailurePolicy: { readonly rules: readonly unknown[] };
      readonly template: {
        readonly spec: {
          readonly restartPolicy: string;
          readonly containers: readonly { readonly name: string; readonly args: readonly [string] }[];
        };
      };
    };
  }

  const manifest = (file: string): JobManifest => parse(read(`deploy/${file}`)) as JobManifest;

  /** The commands of tonlake that a shell makes of a text. */
  function commandsRun(text: string, env: Readonly<Record<string, string>> = {}): readonly (readonly string[])[] {
    const shown = `node() { for word; do printf '%s\\n' "$word"; done; echo; }; ${text.replace(/^exec /, '')}`;
    const { stdout } = spawnSync('sh', ['-ec', shown], { encoding: 'utf8', env });
    return stdout
      .trim()
      .split('\n\n')
      .map((lines) => lines.split('\n').slice(1));
  }

  test.each(['kubernetes-slices.yaml', 'kubernetes-tail.yaml', 'kubernetes-spark.yaml'])(
    '%s tries again what may pass: not invalid usage, and evictions do not count',
    (file) => {
      const { podFailurePolicy, template } = manifest(file).spec;
      // A policy is allowed for pods that are never restarted only.
      expect(template.spec.restartPolicy).toBe('Never');
      expect(podFailurePolicy.rules).toEqual([
        {
          action: 'FailJob',
          onExitCodes: { containerName: template.spec.containers[0]?.name, operator: 'In', values: [2] },
        },
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ]);
    },
  );

  test('the Indexed Job of Kubernetes runs each slice once, at the rate of the key together', () => {
    const { completionMode, completions, parallelism, template } = manifest('kubernetes-slices.yaml').spec;
    expect(completionMode).toBe('Indexed');
    expect(completions).toBe(4 * parallelism);
    const [line = ''] = template.spec.containers.flatMap(({ args }) => args);
    const slices = [0, completions - 1].map((index) => {
      const [words = []] = commandsRun(line, { JOB_COMPLETION_INDEX: `${index}` });
      expectKnown(words);
      expect(Number(words[words.indexOf('--rps') + 1]) * parallelism).toBe(10);
      return words[words.indexOf('--slice') + 1];
    });
    expect(slices).toEqual([`1/${completions}`, `${completions}/${completions}`]);
  });

  test('the tail begins with the gate, of the same range, and stops there if blocks are missing', () => {
    const [slice = ''] = manifest('kubernetes-slices.yaml').spec.template.spec.containers.flatMap(({ args }) => args);
    const [tail = ''] = manifest('kubernetes-tail.yaml').spec.template.spec.containers.flatMap(({ args }) => args);
    const [gate = [], ...others] = commandsRun(tail);
    expect(gate).toEqual(['status', 'transactions', '--range', /--range (\S+)/.exec(slice)?.[1]]);
    expect(others.map(([command]) => command)).toEqual(['run', 'compact', 'build', 'publish']);
    for (const words of [gate, ...others]) expectKnown(words);
    expect(
      spawnSync('sh', ['-ec', `node() { echo "$2"; [ "$2" != status ]; }; ${tail}`], { encoding: 'utf8' }),
    ).toMatchObject({
      ...{ status: 1, stdout: 'status\n' },
    });
  });

  test('Spark takes the place of the build in the tail: with options that the script has', () => {
    const [line = ''] = manifest('kubernetes-spark.yaml').spec.template.spec.containers.flatMap(({ args }) => args);
    const shown = `submit() { printf '%s\\n' "$@"; }; ${line.replace('spark-submit ', 'submit ')}`;
    const { stdout } = spawnSync('sh', ['-ec', shown], { encoding: 'utf8', env: { POD_IP: '10.0.0.7' } });
    const words = stdout.trim().split('\n');
    expect(words).toContain('spark.driver.host=10.0.0.7');
    const script = words.findIndex((word) => word.endsWith('.py'));
    const path = words[script]?.replace('/opt/tonlake/', '') ?? '';
    const known = [...read(path).matchAll(/add_argument\("(--[\w-]+)"/g)].map(([, option]) => option);
    const options = words.slice(script + 1).filter((word) => word.startsWith('--'));
    expect(known).toEqual(expect.arrayContaining(['--from', '--into', ...options]));
  });

  test.runIf(isThere('python3'))(
    'the DAG of a backfill submits to Spark after the gate, and then builds nothing itself',
    () => {
      const folder = freshFolder();
      mkdirSync(join(folder, 'airflow'));
      writeFileSync(
        join(folder, 'airflow/__init__.py'),
        'class DAG:\n  def __init__(self, **given): pass\n  def __enter__(self): return self\n  def __exit__(self, *error): pass\n',
      );
      writeFileSync(
        join(folder, 'airflow/exceptions.py'),
        'class AirflowException(Exception): pass\nclass AirflowFailException(Exception): pass\n',
      );
      writeFileSync(join(folder, 'airflow/sdk.py'), AIRFLOW_SDK);
      for (const name of ['node', 'spark-submit'])
        writeFileSync(
          join(folder, name),
          `#!/bin/sh\necho "${name} $*" >> ${folder}/log\ncase "$*" in *"$FAIL"*) exit 1;; esac\n`,
          {
            mode: 0o755,
          },
        );
      const runTail = (fail: string) => {
        rmSync(join(folder, 'log'), { force: true });
        const env = {
          PATH: `${folder}:${process.env['PATH']}`,
          PYTHONPATH: `${folder}:${join(root, 'deploy')}`,
          FAIL: fail,
        };
        const code =
          'import airflow.sdk as sdk, tonlake_backfill_dag; [sdk.TASKS[name]() for name in ("gate", "tail")]';
        const { status } = spawnSync('python3', ['-B', '-c', code], { env: { ...env, TONLAKE_HOME: folder } });
        const words = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
        return { status, ran: words.map((line) => line.replace(/^node \S+ /, '').split(' ')[0]) };
      };
      expect(runTail('nothing fails')).toEqual({ status: 0, ran: ['status', 'compact', 'publish', 'spark-submit'] });
      expect(runTail('status')).toEqual({ status: 1, ran: ['status'] });
      expect(runTail('--into')).toMatchObject({ status: 1 });
    },
  );

  test('the DAG of a backfill runs commands that there are', () => {
    const lines = [...read('deploy/tonlake_backfill_dag.py').matchAll(/^ *tonlake\((.*)\)$/gm)].map(([, line = '']) =>
      [...line.matchAll(/"([^"]*)"/g)]
        .map(([, word = '']) => word)
        .filter((word) => !['lists', 'rps', 'range', 'pipelines'].includes(word)),
    );
    expect(lines.map(([command]) => command)).toEqual(['run', 'copy', 'status', 'run', 'compact', 'build', 'publish']);
    for (const words of lines) expectKnown(words);
  });
});

describe('docs/jobs.md', () => {
  const text = read('docs/jobs.md');
  const blocks = (language: string): readonly string[] =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);

  test('has commands that there are', () => {
    const commands = blocks('sh').flatMap(commandsIn);
    expect(commands.length).toBeGreaterThanOrEqual(4);
    for (const words of commands) expectKnown(words);
  });

  test('has an example that is a job', async () => {
    const [example = ''] = blocks('yaml');
    const { checkJob } = await import('../../src/jobs/check-job.ts');
    const { parseJob } = await import('../../src/jobs/parse-job.ts');
    const job = await checkJob(parseJob(example, 'nightly.yaml'), { now: Date.now() });
    expect(job.outputs).toHaveLength(3);
  });

  test('tells every key, and every metric', async () => {
    const { jobSchema } = await import('../../src/jobs/job-schema.ts');
    for (const key of Object.keys(jobSchema.shape)) expect(text, key).toMatch(new RegExp(`\`${key}\`|^${key}:`, 'm'));
    const { Metrics } = await import('../../src/resident/metrics.ts');
    const metrics = new Metrics(new Health(realEffects), { head: false, jobs: ['nightly'] });
    const names = [...(await metrics.text()).matchAll(/^# TYPE (tonlake_\w+)/gm)].map(([, name = '']) => name);
    for (const name of names) expect(text).toContain(name);
  });

  test('has ranges that jobs take', async () => {
    const [, table = ''] = /## Ranges\n\n([\s\S]*?)\n\n/.exec(text) ?? [];
    const ranges = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
    expect(ranges.length).toBeGreaterThan(6);
    for (const [, range = ''] of ranges) {
      const start = range === 'since last run' ? 'start: 1\n' : '';
      await expect(jobOf(`network: sandbox\npipelines: [blocks]\nrange: ${range}\n${start}`)).resolves.toBeDefined();
    }
  });
});

test('the key file that the units name is read for every network but the sandbox', async () => {
  const env = { TONLAKE_API_KEY_FILE: join(freshFolder(), 'key') };
  const job = read('pipelines/jobs/nightly-sandbox.yaml');
  expect(job).toContain('network: sandbox\n');
  await (await openSession({ network: 'sandbox', effects: realEffects, env })).close();
  await expect(openSession({ network: 'mainnet', effects: realEffects, env })).rejects.toThrow(
    /expected a readable file in TONLAKE_API_KEY_FILE/,
  );
});
