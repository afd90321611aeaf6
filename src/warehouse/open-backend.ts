import { isObjectUrl } from '../objects/s3-location.ts';
import type { Backend } from './backend.ts';

/** The place of Parquet files at an absolute path or an address. The code for object stores is loaded when one is used. */
export async function openBackend(path: string): Promise<Backend> {
  if (!isObjectUrl(path)) return (await import('./parquet-store/folder-backend.ts')).folderBackend(path);
  return (await import('./bucket-store/bucket-backend.ts')).bucketBackend(path);
}
