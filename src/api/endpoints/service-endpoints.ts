import { atLeastOne, endpoint } from '../endpoint.ts';

const decoding = {
  parameters: {
    opcodes: { kind: 'opcode', note: 'at most 1000' },
    bodies: { kind: 'boc-or-hex', note: 'at most 1000' },
  },
  rules: [atLeastOne('opcodes', 'bodies')],
} as const;

/** Endpoints that compute something or forward the request. */
export const serviceEndpoints = {
  decode: endpoint('GET /decode', {
    ...decoding,
    doc: 'Names of opcodes and decoded message bodies, in the order requested.',
  }),
  decodeByPost: endpoint('POST /decode', { ...decoding, doc: 'Same as GET, for requests too long for a URL.' }),
  estimateFee: endpoint('POST /estimateFee', {
    doc: 'Estimated fees of a message, without sending it.',
    parameters: { address: { kind: 'address' }, ignore_chksig: 'ignore signature checks' },
  }),
  runGetMethod: endpoint('POST /runGetMethod', {
    doc: 'Result of a get-method of a contract.',
    parameters: { address: { kind: 'address' }, stack: 'arguments' },
  }),
  sendMessageToNetwork: endpoint('POST /message', {
    doc: 'SENDS an external message to the network.',
    sends: true,
  }),
};
