import PQueue from 'p-queue';

/**
 * Runs tasks with limited concurrency. After a failure no more tasks start; it rejects when the running ones have ended.
 * @returns the results, in the order of the tasks
 */
export async function runLimited<T>(concurrency: number, tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const queue = new PQueue({ concurrency });
  const results = tasks.map((task) => queue.add(task));
  try {
    return await Promise.all(results);
  } catch (error) {
    queue.clear();
    await queue.onIdle();
    throw error;
  }
}
