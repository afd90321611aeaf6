/** Exit codes of the virtual machine itself in the compute phase: docs.ton.org, "TVM exit codes". Contracts may throw any other. */
export const computeExitCodes: readonly (readonly [number, string])[] = [
  [0, 'success'],
  [1, 'success, alternative'],
  [2, 'stack underflow'],
  [3, 'stack overflow'],
  [4, 'integer overflow'],
  [5, 'integer out of range'],
  [6, 'invalid opcode of the virtual machine'],
  [7, 'type check error'],
  [8, 'cell overflow'],
  [9, 'cell underflow'],
  [10, 'dictionary error'],
  [11, 'unknown error'],
  [12, 'fatal error'],
  [13, 'out of gas'],
  [-14, 'out of gas'],
  [14, 'virtualization error'],
];

/** Result codes of the action phase, from the same page. */
export const actionResultCodes: readonly (readonly [number, string])[] = [
  [0, 'success'],
  [32, 'invalid list of actions'],
  [33, 'too many actions'],
  [34, 'invalid or unsupported action'],
  [35, 'invalid source address of a message'],
  [36, 'invalid destination address of a message'],
  [37, 'not enough TON'],
  [38, 'not enough extra currency'],
  [39, 'message does not fit into a cell'],
  [40, 'message cannot be processed'],
  [41, 'null reference to a library'],
  [42, 'error in changing a library'],
  [43, 'library too large'],
  [50, 'account state too large'],
];
