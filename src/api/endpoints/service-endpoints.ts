import { atLeastOne, get, post, record } from '../endpoint.ts';
import { many, need, one } from '../parameter.ts';

const decoding = {
  parameters: {
    opcodes: many('opcode', 'at most 1000', { most: 1000 }),
    bodies: many('boc-or-hex', 'at most 1000', { most: 1000 }),
  },
  rules: [atLeastOne('opcodes', 'bodies')],
  answer: record('DecodeResponse'),
} as const;

/** Endpoints that compute something or forward the request. */
export const serviceEndpoints = {
  decode: get('Utils', '/decode', {
    ...decoding,
    doc: 'Names of opcodes and decoded message bodies, in the order requested.',
  }),
  decodeByPost: post('Utils', '/decode', { ...decoding, doc: 'Same as GET, for requests too long for a URL.' }),
  estimateFee: post('Legacy (v2)', '/estimateFee', {
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
  runGetMethod: post('Legacy (v2)', '/runGetMethod', {
    doc: 'Result of a get-method of a contract.',
    parameters: { address: need('address'), method: need('text'), stack: one('stack', 'arguments') },
    answer: record('V2RunGetMethodResult'),
  }),
  sendMessageToNetwork: post('Legacy (v2)', '/message', {
    doc: 'SENDS an external message to the network.',
    parameters: { boc: need('boc') },
    answer: record('V2SendMessageResult'),
    sends: true,
  }),
};
