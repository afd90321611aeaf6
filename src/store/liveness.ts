import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

/** A process, told apart from a later one that got the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, as the system tells it; only ever compared. */
  readonly startedAt: string;
  readonly host: string;
}

/** The mark of a running process of this machine; undefined when there is none. */
export async function readMark(pid: number): Promise<ProcessMark | undefined> {
  const startedAt = await readStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt, host: hostname() };
}

/** Whether the process still runs. One of another machine cannot be asked, and counts as running. */
export async function isRunning(mark: ProcessMark): Promise<boolean> {
  if (mark.host !== hostname()) return true;
  return (await readStart(mark.pid)) === mark.startedAt;
}

async function readStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The second field, a name in brackets, may hold anything; those after it are told apart by blanks.
    const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
    const isDead = fields?.[0] === 'Z' || fields?.[0] === 'X';
    return isDead ? undefined : fields?.[19];
  }
  if (process.platform === 'win32') {
    try {
      process.kill(pid, 0);
      return 'running';
    } catch {
      return undefined;
    }
  }
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
