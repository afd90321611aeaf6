import type { Socket } from 'node:net';
import { z } from 'zod';
import { PRIORITIES } from '../priority.ts';

/** Increased when the messages change: processes with different versions do not share a limiter. */
export const WIRE_VERSION = 2;

const MAX_LINE = 1 << 20;
const rps = z.union([z.number().positive(), z.literal('auto')]);
const holder = z.object({ pid: z.number(), command: z.string(), priority: z.enum(PRIORITIES), rps });
const ticket = z.number();

/** Messages from a holder to the leader. */
const toLeader = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('join'), version: z.number(), holder }),
  z.object({ kind: z.literal('ask'), ticket }),
  z.object({ kind: z.literal('drop'), ticket }),
  z.object({ kind: z.literal('slow'), startedAt: z.number(), holdMs: z.number().optional() }),
  z.object({ kind: z.literal('ping') }),
  z.object({ kind: z.literal('status') }),
]);

const status = z.object({
  rps: z.number(),
  cap: z.number().optional(),
  found: z.number().optional(),
  usedLastMinute: z.number(),
  last429: z.number().optional(),
  heldMs: z.number(),
  holders: z.array(holder.extend({ usedLastMinute: z.number(), share: z.number(), waiting: z.number() })),
});

/** Messages from the leader to a holder. */
const toHolder = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('joined'), term: z.number(), rps: z.number(), found: z.number().optional() }),
  z.object({ kind: z.literal('go'), ticket, startedAt: z.number(), rps: z.number() }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  z.object({ kind: z.literal('status'), status }),
]);

export type ToLeader = z.infer<typeof toLeader>;
export type ToHolder = z.infer<typeof toHolder>;
/** The status of a running leader. */
export type LeaderStatus = Readonly<z.infer<typeof status>>;

/** Sends a message as one line of JSON. */
export function send(socket: Socket, message: ToLeader | ToHolder): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Reads messages of holders; closes the socket on an invalid one. */
export function readToLeader(socket: Socket, onMessage: (message: ToLeader) => void): void {
  readLines(socket, (value) => onMessage(toLeader.parse(value)));
}

/** Reads messages of the leader; closes the socket on an invalid one. */
export function readToHolder(socket: Socket, onMessage: (message: ToHolder) => void): void {
  readLines(socket, (value) => onMessage(toHolder.parse(value)));
}

function readLines(socket: Socket, onLine: (value: unknown) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      if (rest.length > MAX_LINE) throw new Error('a line without end');
      for (const line of lines) if (!socket.destroyed) onLine(JSON.parse(line));
    } catch {
      socket.destroy();
    }
  });
  // 'close' always follows.
  socket.on('error', () => undefined);
}
