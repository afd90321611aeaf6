import { JobError } from '../errors.ts';
import { renderReport } from '../report/render.ts';
import { run } from '../run.ts';
import { openSession } from '../session.ts';
import { chainBounds, fetchHeadTime } from '../walk/chain.ts';
import type { JobActions } from './actions.ts';
import { writeRows } from './rows.ts';
import { sendNotice } from './tell.ts';

/** The program's own steps. */
export const jobActions: JobActions = {
  withChain: async ({ network, zone, rps, effects }, use) => {
    const session = await openSession({ network, rps, effects });
    try {
      const bounds = chainBounds(session.source, { zone, isOver: true });
      return await use({ ...bounds, headTime: () => fetchHeadTime(session.source) });
    } finally {
      await session.close();
    }
  },
  run,
  buildMarts: () => notThere('marts'),
  runChecks: () => notThere('checks'),
  renderReport,
  writeRows,
  notify: sendNotice,
};

function notThere(what: string): Promise<never> {
  return Promise.reject(new JobError(`job: there are no ${what} yet`, { code: 'not-there' }));
}
