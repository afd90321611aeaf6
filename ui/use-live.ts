import { useEffect, useState } from 'preact/hooks';

/** A number that grows with each commit to the warehouse; with `runs`, also with each change of a run of a job. */
export function useLive(...events: readonly ('commit' | 'runs')[]): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const source = new EventSource('/api/events');
    for (const event of events) source.addEventListener(event, () => setCount((before) => before + 1));
    return () => source.close();
  }, []);
  return count;
}
