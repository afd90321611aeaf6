import { atLeastOne, get, post, record } from '../endpoint.ts';
import { many, need, one } from '../parameter.ts';

const decoding = {
  group: 'Utils',
  parameters: {
    opcodes: many('opcode', 'at most 1000', { most: 1000 }),
    bodies: many('boc-or-hex', 'at most 1000', { most: 1000 }),
  },
  rules: [atLeastOne('opcodes', 'bodies')],
  answer: record('DecodeResponse'),
} as const;

/** Endpoints that compute something or forward the request. */
export const serviceEndpoints = {
  decode: get('/decode', { ...decoding, doc: 'Names of opcodes and decoded message bodies, in the order requested.' }),
  decodeByPost: post('/decode', { ...decoding, doc: 'Same as GET, for requests too long for a URL.' }),
  estimateFee: post('/estimateFee', {
    group: 'Legacy (v2)',
    doc: 'Estimated fees of a message, without sending it.',
    parameters: {
      address: need('address'),
      body: one('boc'),
      init_code: one('boc'),
      init_data: one('boc'),
      ignore_chksig: one('bool', 'ignore signature checks'),
    },
    answer: record('V2EstimateFeeResult'),
  }),
  runGetMethod: post('/runGetMethod', {
    group: 'Legacy (v2)',
    doc: 'Result of a get-method of a contract.',
    parameters: { address: need('address'), method: need('text'), stack: one('stack', 'arguments') },
    answer: record('V2RunGetMethodResult'),
  }),
  sendMessageToNetwork: post('/message', {
    group: 'Legacy (v2)',
    doc: 'SENDS an external message to the network.',
    parameters: { boc: need('boc') },
    answer: record('V2SendMessageResult'),
    sends: true,
  }),
};
