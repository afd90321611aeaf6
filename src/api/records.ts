import { records, variants } from '../../api/facts.ts';
import type { Fields, Named } from './field.ts';

type Records = typeof records;
export type RecordName = keyof Records;

/** A record as the client returns it: `RecordOf<'Transaction'>`. New fields of newer servers are present but untyped. */
export type RecordOf<Name extends RecordName> = Named<Name, Records>;

type ActionMap = (typeof variants)['action_details_by_type'];
export type ActionType = keyof ActionMap;

/** An action of one type, with the details of that type. */
export type ActionOf<Type extends ActionType> = Omit<RecordOf<'Action'>, 'type' | 'details'> & {
  readonly type: Type;
  readonly details: Named<ActionMap[Type], Records>;
};

/** Type guard for an action with the details of its type. */
export function isActionOf<Type extends ActionType>(action: RecordOf<'Action'>, type: Type): action is ActionOf<Type> {
  return action.type === type;
}

/** The fields of a record, in the order of the server; undefined for an unknown record. */
export function fieldsOf(name: string): Fields | undefined {
  return isRecordName(name) ? records[name] : undefined;
}

export function isRecordName(name: string): name is RecordName {
  return Object.hasOwn(records, name);
}

/** All records, in alphabetical order. */
export const recordNames: readonly string[] = Object.keys(records).sort();

/** Known types of actions, in alphabetical order. */
export const actionTypes: readonly string[] = Object.keys(variants.action_details_by_type).sort();
