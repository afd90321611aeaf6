import { useEffect, useState } from 'preact/hooks';

/** A number that grows with each commit to the warehouse. */
export function useCommits(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const source = new EventSource('/api/events');
    source.addEventListener('commit', () => setCount((before) => before + 1));
    return () => source.close();
  }, []);
  return count;
}
