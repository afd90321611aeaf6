// Runs a command and measures wall time, CPU time and peak memory, including its children.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const cli = join(root, 'dist/src/cli.js');

const SAMPLE_MS = 25;

/** @returns `{ code, stdout, seconds, cpu, peakMb }`; `peakMb` is undefined where there is no /proc. */
export async function measure(command, args, { env = {}, cwd } = {}) {
  // The shell's `time` includes children that have ended.
  const script = 'TIMEFORMAT="%R %U %S"; time "$@"';
  const child = spawn('bash', ['-c', script, 'bash', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd,
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  let peak = 0;
  const timer = setInterval(() => {
    const pids = descendants(child.pid).slice(1);
    peak = Math.max(
      peak,
      pids.reduce((sum, pid) => sum + (usage(pid)?.rssMb ?? 0), 0),
    );
  }, SAMPLE_MS);
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearInterval(timer);
  const lines = output.stderr.trimEnd().split('\n');
  const [seconds, user, system] = (lines.pop() ?? '').split(' ').map(Number);
  const stderr = lines.join('\n');
  return {
    code,
    stdout: output.stdout,
    stderr,
    seconds,
    cpu: user + system,
    peakMb: peak === 0 ? undefined : Math.round(peak),
  };
}

/** As {@link measure}, but throws if the command fails. */
export async function must(command, args, options) {
  const result = await measure(command, args, options);
  if (result.code === 0) return result;
  throw new Error(`${command} ${args.join(' ')} ended with ${result.code}: ${result.stderr.slice(-2000)}`);
}

function descendants(pid) {
  const found = [pid];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      for (const child of readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ')) {
        if (child !== '') found.push(...descendants(Number(child)));
      }
    }
  } catch {
    // Ended in the meantime, or no /proc.
  }
  return found;
}

/** CPU seconds, current and peak memory in MB of a process; undefined after its end, or without /proc. */
export function usage(pid) {
  try {
    const [stat, status] = ['stat', 'status'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    const megabytes = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024;
    return { cpu: (user + system) / 100, rssMb: megabytes('VmRSS'), peakMb: Math.round(megabytes('VmHWM')) };
  } catch {
    return undefined;
  }
}

/** A new empty folder, removed when the process ends. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tonlake-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the server of prepared pages in a child process. */
export async function startServer(blocks, more = []) {
  const child = spawn(process.execPath, [join(root, 'bench/server.mjs'), '--blocks', String(blocks), ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (text) => resolve(String(text).trim()));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const origin = new URL(url).origin;
  const get = async (path) => (await fetch(`${origin}${path}`)).json();
  return { url, stat: () => get('/stat'), forget: () => get('/forget'), close: () => child.kill() };
}
