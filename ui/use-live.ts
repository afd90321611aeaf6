import { useEffect, useState } from 'preact/hooks';
import { send } from './api.ts';

/** Delay before a stream that broke off is opened again, as browsers have it. */
const AGAIN_MS = 3000;

/** A number that grows with each commit to the warehouse; with `runs`, also with each change of a run of a job. */
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

/** Tells the names of events until it is stopped. An EventSource would send no header. */
async function follow(see: (event: string) => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const { ok, body } = await send('/api/events', { signal: stop });
      // A tab without a key gets none by asking again.
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
      // The server ended, or this page did.
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
