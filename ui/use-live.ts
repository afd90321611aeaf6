import { useEffect, useState } from 'preact/hooks';
import { send } from './api.ts';

/** Delay before a broken stream is opened again, as for EventSource. */
const RECONNECT_MS = 3000;

/** Counts events of the server: commits to the warehouse, changes of job runs. */
export function useLive(...events: readonly ('commit' | 'runs')[]): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const see = (event: string): void => {
      if (events.some((each) => each === event)) setCount((before) => before + 1);
    };
    void follow(see, stop.signal);
    return () => stop.abort();
  }, []);
  return count;
}

/** Calls `see` with the name of each event until `stop`. EventSource cannot send headers. */
async function follow(see: (event: string) => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const { ok, body } = await send('/api/events', { signal: stop });
      // Without a session, a retry would fail as well.
      if (!ok || body === null) return;
      let rest = '';
      for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.startsWith('event: ')) see(line.slice('event: '.length));
      }
    } catch {
      // The connection was closed.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}
