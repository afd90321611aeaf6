import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { jsonAs } from '../core/json-as.ts';
import { makeFolder, replaceText } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { recordsOf } from '../jobs/run-history.ts';

const schema = z.object({ from: z.int().nonnegative() });

/** The first followed block of a warehouse: after a restart, blocks that are missing behind the head are still retried. */
export async function readFollowedFrom(warehouse: string): Promise<number | undefined> {
  // An unreadable record is replaced; nothing in the warehouse depends on it.
  const text = await readFile(await recordPath(warehouse), 'utf8').catch(() => '');
  return jsonAs(schema, text)?.from;
}

export async function writeFollowedFrom(warehouse: string, from: number, id: string): Promise<void> {
  const path = await recordPath(warehouse);
  await guarded(`warehouse ${warehouse}`, async () => {
    await makeFolder(dirname(path));
    await replaceText(path, `${JSON.stringify({ from })}\n`, id);
  });
}

async function recordPath(warehouse: string): Promise<string> {
  return join(await recordsOf(warehouse, 'follow'), 'follow.json');
}
