import type { Person } from './model.ts';

/** The account that work items are assigned to and that comments mention. It never signs in. */
export const AGENT_ACCOUNT: Person = {
  name: 'agent',
  accountId: '712020:00000000-0000-4000-8000-0000000a6e47',
  displayName: 'Agent',
  projects: [],
};

export const ALICE: Person = {
  name: 'alice',
  accountId: '557057:00000000-0000-4000-8000-00000000a11c',
  displayName: 'Alice Moreau',
  projects: ['SHOP', 'PAY'],
};

export const BOB: Person = {
  name: 'bob',
  accountId: '557057:00000000-0000-4000-8000-000000000b0b',
  displayName: 'Bob Okafor',
  projects: ['SHOP'],
};

/** Licensed on the site, but in no project. */
export const CAROL: Person = {
  name: 'carol',
  accountId: '557057:00000000-0000-4000-8000-00000000ca01',
  displayName: 'Carol Lindqvist',
  projects: [],
};
