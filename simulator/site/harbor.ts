/**
 * Another company's site with the same app on it. Ids, keys and one account are the same as on the first site, so that
 * whatever forgets the site in its keys or queries mixes the two up visibly.
 */
import * as adf from './adf.ts';
import type { SiteContent } from './model.ts';
import { AGENT_ACCOUNT, ALICE, type CAROL } from './people.ts';

export const DAN: typeof CAROL = {
  name: 'dan',
  accountId: '557057:00000000-0000-4000-8000-0000000000da',
  displayName: 'Dan Petrov',
  projects: ['SHOP'],
};

export const HARBOR: SiteContent = {
  projects: [{ id: '20001', key: 'SHOP', name: 'Ship Operations' }],
  people: [{ ...ALICE, projects: ['SHOP'] }, DAN, AGENT_ACCOUNT],
  items: [
    {
      id: '10001',
      key: 'SHOP-1',
      type: 'Task',
      summary: 'Book the dry dock for the Marguerite',
      description: adf.doc(adf.paragraph('Harbor only: the hull survey found two cracks.')),
      status: 'To Do',
      priority: 'High',
      assignee: DAN.accountId,
      reporter: DAN.accountId,
      dueDate: '2026-12-20',
      labels: [],
      parent: null,
      created: '2026-11-03T09:00:00.000+0000',
      updated: '2026-11-21T09:00:00.000+0000',
      comments: [],
    },
  ],
  links: [],
};
