import type { MergeReply, MergeRequest } from './merge-process.ts';

// Entry point of the process that merges files for another one. It ignores signals, which a terminal or systemd sends to the whole process
// group, because the parent decides when to stop. It ends with the merge, or with the parent.

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.exit(1));
process.once('message', async (message) => {
  // Loaded after the signal handlers are set, because loading takes most of the start.
  const [{ stageMerge }, { encodeError }] = await Promise.all([
    import('./stage-merge.ts'),
    import('../../core/wire-error.ts'),
  ]);
  const { work, warehouse } = message as MergeRequest;
  const reply: MergeReply = await stageMerge(work, async () => warehouse).then(
    (tables) => ({ kind: 'staged', tables }),
    (error: unknown) => ({ kind: 'failed', error: encodeError(error) }),
  );
  process.send?.(reply, () => process.exit(0));
});
