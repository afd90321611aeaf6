import { useEffect, useState } from 'preact/hooks';
import { send } from './api.ts';

/** Delay before a broken stream is opened again; the same as that of EventSource. */
const RECONNECT_MS = 3000;

/** Counts events from the server: commits to the warehouse, changes of job runs. */
export function useLive(...events: readonly ('commit' | 'runs')[]): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const onEvent = (event: string): void => {
      if (events.some((each) => each === event)) setCount((before) => before + 1);
    };
    void readEvents(onEvent, stop.signal);
    return () => stop.abort();
  }, []);
  return count;
}

/** Reports the name of each event until `stop`. Not an EventSource, which cannot send headers. */
async function readEvents(onEvent: (event: string) => void, stop: AbortSignal): Promise<void> {
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
        for (const line of lines) if (line.startsWith('event: ')) onEvent(line.slice('event: '.length));
      }
    } catch {
      // The connection was closed.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}
