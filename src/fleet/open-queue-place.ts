import { isObjectUrl } from '../objects/s3-location.ts';
import { warehousePath } from '../warehouse/index.ts';
import { IncomingFolder } from './incoming-folder.ts';
import type { QueuePlace } from './queue-place.ts';
import { SharedBucket } from './shared-bucket.ts';

/** @throws {UsageError} `wrong-kind` if the warehouse is one file, which workers cannot write to */
export async function openQueuePlace(warehouse: string): Promise<QueuePlace> {
  const path = warehousePath(warehouse);
  return isObjectUrl(path) ? new SharedBucket(path) : IncomingFolder.of(path);
}
