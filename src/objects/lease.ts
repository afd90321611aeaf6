import * as z from 'zod';
import { StoreError } from '../core/errors.ts';
import { jsonAs } from '../core/json-as.ts';
import { markSchema, readMark, readProcessState } from '../files/process-liveness.ts';
import { BusyError, type Lock, type LockOptions } from '../files/writer-lock.ts';
import type { WarehouseObjects } from './object-store.ts';

/** Lifetime of a lease without renewal, and the interval of renewals; by the clock of the store. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;

const leaseSchema = markSchema.extend({ id: z.string(), since: z.string(), command: z.string(), renewals: z.number() });

/** Who holds a lease. */
export type LeaseHolder = Readonly<z.infer<typeof leaseSchema>>;

/** A lease, held until it is released, or for a minute after its process ended. */
export interface Lease extends Lock {
  /** Aborted when another process has taken it, because it was not renewed in time. */
  readonly lost: AbortSignal;
}

export interface LeaseOptions extends Omit<LockOptions, 'path'> {
  readonly objects: WarehouseObjects;
  readonly key: string;
}

/**
 * Takes a lease in an object store, for processes of any machine.
 *
 * @throws {StoreError} `busy` if another process holds it
 */
export async function takeLease(options: LeaseOptions): Promise<Lease> {
  const { objects, key, effects, command } = options;
  const since = new Date(effects.now()).toISOString();
  let own = encode({ id: effects.freshId(), ...(await readMark()), since, command, renewals: 0 });
  for (;;) {
    const other = await objects.putOrGet(key, own.bytes);
    if (other === undefined) break;
    const holder = decode(other);
    if (holder !== undefined && !(await isFree(options, holder))) throw busy(options, holder);
    if (await objects.putInPlaceOf(key, other, own.bytes)) break;
  }
  const lost = new AbortController();
  let work: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const next = renewed(own.lease);
    if (await objects.putInPlaceOf(key, own.bytes, next.bytes)) {
      own = next;
      return;
    }
    const stored = await objects.get(key);
    if (stored === undefined || !next.bytes.equals(stored)) return lost.abort(taken(options));
    // The last renewal was put, but its answer was lost.
    own = next;
    return renew();
  };
  const timer = setInterval(() => {
    // A failed renewal is retried by the next one; after a minute, another process may have taken the lease.
    if (!lost.signal.aborted) work = work.then(renew).catch(() => undefined);
  }, RENEW_MS);
  timer.unref();
  return {
    lost: lost.signal,
    release: async () => {
      clearInterval(timer);
      await work;
      const stored = await objects.get(key);
      const isOwn = [own, renewed(own.lease)].some(({ bytes }) => stored !== undefined && bytes.equals(stored));
      if (isOwn) await objects.remove([key]);
    },
  };
}

/** True if the process is gone, or has not renewed its lease in time. */
async function isFree({ objects, key, effects }: LeaseOptions, holder: LeaseHolder): Promise<boolean> {
  if ((await readProcessState(holder, { since: holder.since })) === 'gone') return true;
  const renewedAt = (await putTimes(objects, key)).get(key);
  // A new object shows the current time of the store.
  const probe = `${key}.now-${effects.freshId()}`;
  await objects.put(probe, new Uint8Array());
  const now = (await putTimes(objects, probe)).get(probe);
  await objects.remove([probe]);
  return renewedAt === undefined || now === undefined || now - renewedAt > LEASE_MS;
}

async function putTimes(objects: WarehouseObjects, prefix: string): Promise<ReadonlyMap<string, number>> {
  return new Map((await objects.list(prefix)).map(({ key, putAt }) => [key, putAt]));
}

function renewed(lease: LeaseHolder): ReturnType<typeof encode> {
  return encode({ ...lease, renewals: lease.renewals + 1 });
}

function encode(lease: LeaseHolder): { readonly lease: LeaseHolder; readonly bytes: Buffer } {
  return { lease, bytes: Buffer.from(`${JSON.stringify(lease)}\n`) };
}

/** Undefined for other contents, which are replaced. */
function decode(bytes: Uint8Array): LeaseHolder | undefined {
  return jsonAs(leaseSchema, Buffer.from(bytes).toString('utf8'));
}

function busy({ subject, doing }: LeaseOptions, holder: LeaseHolder): BusyError {
  return new BusyError(subject, doing, holder, {
    where: ` of host ${holder.host}`,
    hint: 'wait for it to end, or stop it there; a minute after it was killed, the lease is free',
  });
}

function taken({ subject, doing = 'is being written' }: LeaseOptions): StoreError {
  return new StoreError(
    `store: ${subject} ${doing} by another process now: this one did not renew its lease for a minute`,
    {
      code: 'lease-lost',
      retryable: true,
    },
  );
}
