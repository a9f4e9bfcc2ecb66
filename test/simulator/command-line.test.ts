import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { ANY_PORTS, endAll, type Run, run } from './command.ts';
import type { Trust } from './reference-agent/caller.ts';
import type { Flaw } from './reference-agent/flaws.ts';
import { startReferenceAgent } from './reference-agent/server.ts';

/** An agent that comes to trust a simulator once its printed lines are known. */
async function agentFor(flaws: readonly Flaw[] = []) {
  const trust = { appAri: '', jwksUrl: '', apiHosts: [] as readonly string[], cooldownMs: 10, flaws: new Set(flaws) };
  const agent = await startReferenceAgent(
    Object.assign(trust satisfies Trust, {
      waitMs: 400,
      streamMs: 800,
      heartbeatMs: 100,
      deadlineMs: { chat: 10_000, item: 10_000 },
    }),
  );
  after(() => agent.close());
  return {
    ...agent,
    async trustWhatIsPrinted(simulator: Run): Promise<void> {
      const [, appAri = '', jwksUrl = '', host = ''] = await simulator.until(
        /FORGE_APP_ID=(\S+)\s+FORGE_JWKS_URL=(\S+)\s+ROVO_API_HOSTS=(\S+)/,
      );
      Object.assign(trust, { appAri, jwksUrl, apiHosts: [host] });
    },
  };
}

describe('simulator on the command line', () => {
  after(endAll);

  it('check: exits 0 with a table when every rule holds', async () => {
    const agent = await agentFor();
    const check = run('check', '--url', agent.url, '--only', 'token,stream.order', '--time-scale', '900', ...ANY_PORTS);
    await agent.trustWhatIsPrinted(check);
    assert.equal(await check.exit, 0, check.output());
    assert.match(check.output(), /pass {2}alg none is refused/);
    assert.match(check.output(), /\d+ passed, 0 failed, 0 skipped/);
  });

  it('check: exits 1 when one does not', async () => {
    const agent = await agentFor(['kind-field']);
    const check = run('check', '--url', agent.url, '--only', 'task.strict', '--json', ...ANY_PORTS);
    await agent.trustWhatIsPrinted(check);
    assert.equal(await check.exit, 1, check.output());
    assert.match(check.output(), /"status":"fail","seen":"[^"]*kind: unknown field/);
  });

  it('serve: takes commands from another process and prints the conversations', async () => {
    const agent = await agentFor();
    const simulator = run('serve', ...ANY_PORTS, '--time-scale', '900');
    await agent.trustWhatIsPrinted(simulator);
    const [, port = ''] = await simulator.until(/on port (\d+)/);
    const say = async (...words: readonly string[]) => {
      const command = run(...words, '--url', agent.url, '--control-port', port, '--time-scale', '100');
      return { code: await command.exit, text: command.output() };
    };
    const assigned = await say('assign', 'SHOP-1', '--as', 'alice');
    assert.equal(assigned.code, 0, assigned.text);
    assert.match(assigned.text, /completed, offered as a comment:\n {4}\*\*Discount code/);
    const streamed = await say('mention', 'SHOP-1', 'why?', '--as', 'bob', '--cut-after', '2');
    assert.equal(streamed.code, 0, streamed.text);
    assert.match(streamed.text, /! the stream was cut: resumed at once/);
    assert.match((await say('token', '--as', 'carol')).text, /authorization: Bearer \S+\nx-forge-oauth-user: /);
    assert.match((await say('assign', 'PAY-1', '--as', 'bob')).text, /bob cannot see PAY-1/);
    assert.equal((await say('uninstall')).code, 0);
    simulator.process.kill('SIGTERM');
    assert.equal(await simulator.exit, 0);
  });

  it('explains a wrong command line and a simulator that is not running', async () => {
    const wrong = run('check', '--time-scale', 'fast');
    assert.equal(await wrong.exit, 64);
    assert.match(wrong.output(), /^--time-scale is a number of at least 1\nnpm run simulator -- --help [^\n]*\n$/);
    const alone = run('assign', 'SHOP-1', '--control-port', '1');
    assert.equal(await alone.exit, 69);
    assert.match(alone.output(), /npm run simulator/);
  });
});
