import type { variants } from './enums.ts';
import type { Fields, Named } from './field.ts';
import { accountRecords } from './records/account-records.ts';
import { actionDetails } from './records/action-details.ts';
import { actionRecords } from './records/action-records.ts';
import { chainRecords } from './records/chain-records.ts';
import { cocoonDetails } from './records/cocoon-details.ts';
import { financeDetails } from './records/finance-details.ts';
import { multisigRecords } from './records/multisig-records.ts';
import { rawActionRecords } from './records/raw-action-records.ts';
import { serviceRecords } from './records/service-records.ts';
import { tokenRecords } from './records/token-records.ts';

/** Every record of the API. */
export const records = {
  ...chainRecords,
  ...accountRecords,
  ...tokenRecords,
  ...multisigRecords,
  ...serviceRecords,
  ...actionRecords,
  ...actionDetails,
  ...financeDetails,
  ...cocoonDetails,
  ...rawActionRecords,
};

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
