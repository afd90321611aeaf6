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

/** Endpoints that compute or proxy. */
export const serviceEndpoints = {
  decode: get('/decode', { ...decoding, doc: 'Names of opcodes and contents of message bodies, in the order asked.' }),
  decodeByPost: post('/decode', { ...decoding, doc: 'As decode, for more than a request line holds.' }),
  estimateFee: post('/estimateFee', {
    group: 'Legacy (v2)',
    doc: 'Fees of a message that is not sent.',
    parameters: {
      address: need('address'),
      body: one('boc'),
      init_code: one('boc'),
      init_data: one('boc'),
      ignore_chksig: one('bool', 'take any signature for right'),
    },
    answer: record('V2EstimateFeeResult'),
  }),
  runGetMethod: post('/runGetMethod', {
    group: 'Legacy (v2)',
    doc: 'What a get-method of a contract returns.',
    parameters: { address: need('address'), method: need('text'), stack: one('stack', 'its arguments') },
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
