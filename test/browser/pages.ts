import { createServer } from 'node:http';

/** Pages on this machine. */
export interface PageServer {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
  close(): void;
}

/** Serves pages by their path; all others are empty. */
export async function servePages(pages: ReadonlyMap<string, string>): Promise<PageServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'text/html; charset=utf-8').end(pages.get(request.url ?? '') ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    asked,
    close: () => server.close(),
  };
}
