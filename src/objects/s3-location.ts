import { usage } from '../core/errors.ts';

/** A bucket, and the part of it that is used. */
export interface S3Location {
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
}

/** True for the address of a place in an object store: `s3://...`. */
export function isObjectUrl(path: string): boolean {
  return /^s3:\/\//i.test(path);
}

/** Reads `s3://bucket/prefix`. @throws {UsageError} */
export function parseLocation(url: string): S3Location {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(\/.*)?$/is.exec(url) ?? [];
  const prefix = rest.replace(/^\/|\/+$/g, '');
  const isPlain =
    prefix === '' || prefix.split('/').every((part) => /^[\w.=@+,~ -]+$/.test(part) && !/^\.+$/.test(part));
  if (/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(bucket) && isPlain) return { bucket, prefix };
  throw usage(
    's3://bucket/prefix',
    url.slice(0, 200),
    'bucket names have 3 to 63 lower-case letters, digits, dots and hyphens; prefixes have letters, digits and . _ - = @ + , ~',
  );
}

/** The address of a location, without a slash at the end. */
export function formatLocation({ bucket, prefix }: S3Location): string {
  return prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
}
