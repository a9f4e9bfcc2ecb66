import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPaint, wantsColour } from './demo/layout.ts';
import { type DayResult, playDay } from './demo/play-day.ts';
import { createTranscript, type Transcript } from './demo/transcript.ts';

/*
 * `npm run demo`: a day on a Jira site, with the real service in a process of its own. Exits 0 when every claim of every
 * scene holds, 1 when one does not, 128 + n on a signal. Service and temporary directory are gone afterwards, however
 * it ends.
 */

const GRACE_MS = 1_000;
const { stdout } = process;
// Whoever reads may leave early, as `head` does.
stdout.on('error', () => process.exit(1));
const show = createTranscript({
  write: (text) => void stdout.write(text),
  paint: createPaint(wantsColour(stdout.isTTY, process.env)),
  width: stdout.columns,
});

const directory = mkdtempSync(join(tmpdir(), 'rovo-a2a-demo-'));
let disposeService = (): void => {};
process.once('exit', () => {
  disposeService();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    const code = 128 + constants.signals[name];
    if (interrupted.signal.aborted) process.exit(code);
    process.exitCode = code;
    interrupted.abort(new Error(name));
  });
}

function showResult({ claims, failures }: DayResult, seconds: number, transcript: Transcript): void {
  transcript.scene(failures.length === 0 ? 'The day went well' : 'The day did not go well');
  transcript.note(`${claims} claims in ${seconds.toFixed(0)} s, ${failures.length} of them wrong.`);
  for (const failure of failures) transcript.claim(false, failure);
  if (failures.length > 0) return;
  transcript.scene('What next');
  transcript.does(
    'Try',
    '`npm run simulator` in one terminal and `npm start` in another: play Jira yourself (docs/run-locally.md)',
  );
  transcript.does('Connect', 'register the service in your own Jira as a Rovo agent (docs/register-in-rovo.md)');
  transcript.does('Write', 'an agent of yours is a module with one function (docs/write-an-agent.md)');
}

const startedAt = performance.now();
try {
  const result = await playDay({
    show,
    directory,
    signal: interrupted.signal,
    onService: (dispose) => {
      disposeService = dispose;
    },
  });
  showResult(result, (performance.now() - startedAt) / 1_000, show);
  if (!interrupted.signal.aborted) process.exitCode = result.failures.length === 0 ? 0 : 1;
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  show.line('');
  show.line('Interrupted. Nothing is left running.');
}
// A scene that was given up may still hold a socket or wait at a gate; otherwise this is never reached.
setTimeout(() => process.exit(), GRACE_MS).unref();
