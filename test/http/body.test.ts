import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatError } from '../../src/core/errors.ts';
import { BodyFailure, decompress } from '../../src/http/body.ts';
import { fetchText, json, open, rejection, type Step, serveSteps } from './server.ts';

const PAGE = JSON.stringify({
  blocks: Array.from({ length: 3000 }, (_, seqno) => ({ seqno, shard: '8000000000000000' })),
});
const LIMIT = 1 << 26;

function packed(encoding: string, body: Buffer): Step {
  return (response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': encoding,
      'content-length': body.length,
    });
    response.end(body);
  };
}

describe('compressed answers', () => {
  test('are asked for, and gzip and brotli give the same bytes as a plain body', async () => {
    const server = await serveSteps(
      json(200, JSON.parse(PAGE)),
      packed('gzip', gzipSync(PAGE)),
      packed('br', brotliCompressSync(PAGE)),
    );
    const source = open(server.baseUrl);
    expect([await fetchText(source), await fetchText(source), await fetchText(source)]).toEqual([PAGE, PAGE, PAGE]);
    expect(server.headers[0]?.['accept-encoding']).toBe('gzip, br');
  });

  test('a cut gzip body is asked again', async () => {
    const whole = gzipSync(PAGE);
    const server = await serveSteps(packed('gzip', whole.subarray(0, whole.length >> 1)), packed('gzip', whole));
    expect(await fetchText(open(server.baseUrl))).toBe(PAGE);
    expect(server.requests).toHaveLength(2);
  });

  test('a broken brotli body that persists is an error like any other', async () => {
    const body = brotliCompressSync(PAGE);
    body.fill(0xff, body.length >> 1);
    const error = await rejection(fetchText(open((await serveSteps(packed('br', body))).baseUrl, { attempts: 2 })));
    expect(formatError(error)).toMatch(
      /^source blocks 5: the br body is truncated or corrupt after 2 attempts in 0.3 s \(.+\); hint: /,
    );
    expect(error).toMatchObject({ code: 'broken-body' });
  });

  test('a body that unpacks to more than the limit is refused, and not asked again', async () => {
    const server = await serveSteps(packed('gzip', gzipSync(Buffer.alloc(1_000_000, '['))));
    const error = await rejection(fetchText(open(server.baseUrl, { maxBytes: 100_000 })));
    expect(formatError(error)).toBe('source blocks 5: expected at most 100000 bytes, got more');
    const plain = await serveSteps(json(200, 'x'.repeat(200_000)));
    expect(await rejection(fetchText(open(plain.baseUrl, { maxBytes: 100_000 })))).toMatchObject({ code: 'too-large' });
    expect([...server.requests, ...plain.requests]).toHaveLength(2);
  });

  test('an encoding nobody asked for is refused', async () => {
    const error = await rejection(fetchText(open((await serveSteps(packed('zstd', gzipSync(PAGE)))).baseUrl)));
    expect(formatError(error)).toBe('source blocks 5: expected encoding gzip, br, got zstd');
  });
});

describe('decompress', () => {
  test('undoes every encoding, also several in a row', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const body = Buffer.from(bytes);
        expect(await decompress(gzipSync(body), 'gzip', LIMIT)).toEqual(body);
        expect(await decompress(brotliCompressSync(body), 'BR', LIMIT)).toEqual(body);
        expect(await decompress(deflateSync(body), 'deflate', LIMIT)).toEqual(body);
        expect(await decompress(gzipSync(brotliCompressSync(body)), 'br, gzip', LIMIT)).toEqual(body);
        expect(await decompress(body, 'identity', LIMIT)).toEqual(body);
      }),
      { numRuns: 30 },
    );
  });

  test('never takes a cut body for a whole one', async () => {
    for (const [encoding, body] of [
      ['gzip', gzipSync(PAGE)],
      ['br', brotliCompressSync(PAGE)],
    ] as const) {
      for (let cut = 1; cut < body.length; cut += 97) {
        await expect(decompress(body.subarray(0, cut), encoding, LIMIT)).rejects.toBeInstanceOf(BodyFailure);
      }
    }
  });

  test('an empty body stays empty, whatever its header says', async () => {
    expect(await decompress(Buffer.alloc(0), 'gzip', LIMIT)).toHaveLength(0);
  });
});
