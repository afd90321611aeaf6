import PQueue from 'p-queue';

/**
 * Runs tasks, at most so many concurrently. If one fails, no other is started, and those that run end first.
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
