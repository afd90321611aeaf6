import type { MergeOrder, MergeReply } from './merge-process.ts';

// Entry of the process that merges files for another one, which decides about stopping: a terminal and systemd signal all processes of a
// group. It ends when the merge is done, and when the other process has ended.

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.exit(1));
process.once('message', async (message) => {
  // Loaded after the signals are handled: it takes most of the time of the start.
  const [{ stageMerge }, { encodeError }] = await Promise.all([
    import('./stage-merge.ts'),
    import('../../core/wire-error.ts'),
  ]);
  const { work, warehouse } = message as MergeOrder;
  const reply: MergeReply = await stageMerge(work, async () => warehouse).then(
    (tables) => ({ kind: 'staged', tables }),
    (error: unknown) => ({ kind: 'failed', error: encodeError(error) }),
  );
  process.send?.(reply, () => process.exit(0));
});
