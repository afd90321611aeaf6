import type { Socket } from 'node:net';
import { z } from 'zod';
import { PRIORITIES } from '../priority.ts';

/** Raised whenever the messages change: processes of two versions do not share a budget. */
export const WIRE_VERSION = 1;

const MAX_LINE = 1 << 20;
const rps = z.union([z.number().positive(), z.literal('auto')]);
/** `lane` is the priority, under the name that older versions know. */
const holder = z.object({ pid: z.number(), command: z.string(), lane: z.enum(PRIORITIES), rps });
const ticket = z.number();

/** What a holder says to the leader of the budget. */
const toKeeper = z.discriminatedUnion('kind', [
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

/** What the leader says to a holder. */
const toHolder = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('joined'), term: z.number(), rps: z.number(), found: z.number().optional() }),
  z.object({ kind: z.literal('go'), ticket, startedAt: z.number(), rps: z.number() }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  z.object({ kind: z.literal('status'), status }),
]);

export type ToLeader = z.infer<typeof toKeeper>;
export type ToHolder = z.infer<typeof toHolder>;
/** The live part of a budget's status. */
export type LeaderStatus = Readonly<z.infer<typeof status>>;

/** Sends one message as a line of JSON. */
export function send(socket: Socket, message: ToLeader | ToHolder): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Reads what holders say; whoever says something else is cut off. */
export function readToLeader(socket: Socket, heard: (message: ToLeader) => void): void {
  readLines(socket, (value) => heard(toKeeper.parse(value)));
}

/** Reads what the leader says; whoever says something else is cut off. */
export function readToHolder(socket: Socket, heard: (message: ToHolder) => void): void {
  readLines(socket, (value) => heard(toHolder.parse(value)));
}

function readLines(socket: Socket, heard: (value: unknown) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      if (rest.length > MAX_LINE) throw new Error('a line without end');
      for (const line of lines) if (!socket.destroyed) heard(JSON.parse(line));
    } catch {
      socket.destroy();
    }
  });
  // Its end is told by 'close', which always follows.
  socket.on('error', () => undefined);
}
