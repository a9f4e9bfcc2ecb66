import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startAtlassian } from '../atlassian.ts';
import { READINESS, TIME_SCALE } from './readiness.ts';
import { ASSIGNMENT } from './scenes/assignment.ts';
import { CANCEL } from './scenes/cancel.ts';
import { CHAT } from './scenes/chat.ts';
import { CRASH } from './scenes/crash.ts';
import { MENTION } from './scenes/mention.ts';
import { PERMISSION } from './scenes/permission.ts';
import { SHUTDOWN } from './scenes/shutdown.ts';
import { USER_TOKEN } from './scenes/user-token.ts';
import { createServiceProcess } from './service-process.ts';
import type { Scene, Stage } from './stage.ts';
import type { Transcript } from './transcript.ts';

export interface DayOptions {
  readonly show: Transcript;
  /** An empty directory: the database goes there, and whatever else the service writes. */
  readonly directory: string;
  /** Ends the day early. */
  readonly signal: AbortSignal;
  /** Told how to get rid of the service at once, whatever happens to this process. */
  onService(dispose: () => void): void;
}

export interface DayResult {
  readonly claims: number;
  /** What did not hold, and what kept a scene from being played. */
  readonly failures: readonly string[];
}

/** In this order: each may build on what is on the site and in the database since the ones before. */
const SCENES: readonly Scene[] = [
  ASSIGNMENT,
  MENTION,
  CHAT,
  PERMISSION,
  CANCEL,
  USER_TOKEN,
  CRASH,
  SHUTDOWN,
  READINESS,
];
const SCENE_MS = 30_000;

const SETTINGS = {
  // Short, so that one sees SendMessage answered before the work is done.
  ROVO_WAIT_MS: '500',
  // How long the restarted service takes to notice that the killed one is gone.
  LEASE_MS: '2000',
};

/** Rejects when that takes too long, or with the reason of the first signal. */
async function within(playing: Promise<void>, signals: readonly AbortSignal[]): Promise<void> {
  let stop = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signals.find(({ aborted }) => aborted)?.reason);
    timer = setTimeout(() => reject(new Error(`not over after ${SCENE_MS / 1_000} s`)), SCENE_MS);
  });
  for (const signal of signals) signal.addEventListener('abort', stop, { once: true });
  if (signals.some(({ aborted }) => aborted)) stop();
  try {
    await Promise.race([playing, end]);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', stop);
  }
}

function introduce(show: Transcript, url: string): void {
  show.does('Site', 'lantern, a local Jira: Alice sees SHOP and PAY, Bob sees SHOP, Carol sees neither');
  show.does('Agent', '`brief`, which uses no model: it reads work items as the person who asks');
  show.does('Service', `node dist/src/main.js with an empty SQLite database, called at ${url}`);
  show.note('Everything goes over real HTTP with signed tokens. Nothing leaves this machine.');
}

/** Starts an Atlassian and the service, plays the scenes and cleans up. Rejects only with `signal`'s reason. */
export async function playDay({ show, directory, signal, onService }: DayOptions): Promise<DayResult> {
  const failures: string[] = [];
  let claims = 0;
  const atlassian = await startAtlassian({ timeScale: TIME_SCALE });
  const service = createServiceProcess({
    directory,
    settings: {
      ...atlassian.env,
      ...SETTINGS,
      DATABASE_URL: `sqlite:${join(directory, 'demo.db')}`,
      // User tokens are kept sealed in the database. Without a key they would not outlive the process.
      CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    },
  });
  onService(service.dispose);
  const claim: Stage['claim'] = (holds, text, seen) => {
    claims += 1;
    if (!holds) failures.push(seen === undefined ? text : `${text} (${seen})`);
    show.claim(holds, text, seen);
  };
  const ends = [signal, service.lost];
  try {
    await within(service.start(), ends);
    const { site } = atlassian;
    // Only the readiness table needs fast clocks: a played person waits like a real one.
    const jira = atlassian.client({ url: service.url(), timeScale: 1, invocationToken: { includeSiteUrl: true } });
    introduce(show, service.url());
    const stage: Stage = { atlassian, site, jira, service, show, claim, ended: [] };
    for (const [index, { title, play }] of SCENES.entries()) {
      show.scene(`${index + 1}  ${title}`);
      await within(play(stage), ends);
      site.traffic.clear();
    }
  } catch (error) {
    signal.throwIfAborted();
    claim(false, 'the scene could be played', error instanceof Error ? error.message : String(error));
  } finally {
    service.dispose();
    await atlassian.close();
  }
  if (failures.length > 0) {
    show.scene('What the service logged as a warning or an error');
    for (const line of service.complaints()) show.note(line);
  }
  return { claims, failures };
}
