import { DecodeError } from '../../core/errors.ts';
import type { SourceResponse } from '../../http/request.ts';
import type { AnswerShape, Endpoint } from '../endpoint.ts';
import type { JsonValue } from '../field.ts';
import { parseExactJson } from './exact-json.ts';
import { widenRecord } from './widen-record.ts';

/** A newly parsed JSON object, which may be changed. */
type Fresh = Record<string, JsonValue>;

/**
 * Parses a response by the schema of its endpoint: rows are a list even if the server sends null, maps are objects, and 64-bit integers
 * are bigint.
 *
 * @throws {DecodeError} if it is not JSON, or has another shape; retryable, because it may be truncated
 */
export function readResponse(endpoint: Endpoint, answer: SourceResponse): JsonValue {
  const label = endpoint.path.slice(1);
  if (answer.status === 404) return emptyAnswer(endpoint.answer);
  const value = parseExactJson(answer.body, label);
  const shape = endpoint.answer;
  switch (shape.kind) {
    case 'rows': {
      const envelope = objectOf(label, value);
      if (!Object.hasOwn(envelope, shape.rows)) throw misshapen(label, `an object with ${shape.rows}`);
      envelope[shape.rows] = listOf(label, shape, envelope[shape.rows] ?? []);
      for (const map of shape.maps) {
        const entries = objectOf(label, envelope[map] ?? {});
        widenRows(map === 'metadata' ? 'AddressMetadata' : 'AddressBookRow', entries);
        envelope[map] = entries;
      }
      return envelope;
    }
    case 'list':
      return listOf(label, shape, value ?? []);
    case 'map': {
      const map = objectOf(label, value ?? {});
      widenRows(shape.record, map);
      return map;
    }
    case 'record': {
      const record = objectOf(label, value);
      widenRecord(shape.record, record);
      return record;
    }
  }
}

function emptyAnswer(shape: AnswerShape): JsonValue {
  if (shape.kind !== 'rows') return {};
  return { [shape.rows]: [], ...Object.fromEntries(shape.maps.map((map) => [map, {}])) };
}

function listOf(label: string, shape: AnswerShape, value: JsonValue): readonly JsonValue[] {
  if (!Array.isArray(value)) throw misshapen(label, 'a list of rows');
  widenRows(shape.record, value);
  return value;
}

function widenRows(record: string, rows: object): void {
  for (const row of Object.values(rows)) widenRecord(record, row);
}

function objectOf(label: string, value: JsonValue): Fresh {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw misshapen(label, 'an object');
  return value as Fresh;
}

function misshapen(label: string, expected: string): DecodeError {
  return new DecodeError(`decode ${label}: expected ${expected}, got something else`, {
    retryable: true,
    hint: 'is this the base URL of a TON Index v3 API? it ends in /api/v3',
  });
}
