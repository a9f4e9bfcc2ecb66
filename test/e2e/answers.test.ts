import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type GrpcClient, grpcClient } from '../a2a/grpc.ts';
import { type Person, personAt } from '../a2a/person.ts';
import { script, startWorld, type World } from './world.ts';

/*
 * What SendMessage answers is what GetTask says right after it, field by field and over every binding of the shipped
 * service, whose store writes in a thread of its own. Most answers are not read: they are known from what was told.
 */

let world: World;
let alice: Person;
let grpc: GrpcClient;
const closing: (() => void)[] = [];
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { GRPC_PORT: '0', A2A_VERSIONS: '1.0,0.3' } });
  alice = await personAt(world, 'alice');
  const card = await (await fetch(`${world.service().origin}/.well-known/agent-card.json`)).json();
  const { supportedInterfaces } = card as { supportedInterfaces: readonly { protocolBinding: string; url: string }[] };
  const address = supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? assert.fail();
  const authorization = `Bearer ${await world.issuer.token('alice')}`;
  grpc = grpcClient({ after: (close) => void closing.push(close) }, address, { authorization });
});
after(() => {
  for (const close of closing) close();
  return world.close();
});

type Params = ReturnType<typeof script>;
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Wire = any;

/** Each answers what SendMessage brought and what GetTask says of that task then. */
const BINDINGS: Readonly<Record<string, (params: Params) => Promise<readonly [sent: Wire, read: Wire]>>> = {
  async 'JSON-RPC'(params) {
    const { task, message } = (await alice.rpc('SendMessage', params)).json.result;
    const id = task?.id ?? message.taskId;
    return [task ?? message, (await alice.rpc('GetTask', { id, ...length(params) })).json.result];
  },
  async 'HTTP+JSON'(params) {
    const { task, message } = (await alice.rest('POST /message:send', { body: params })).json;
    const { historyLength } = params.configuration;
    const query = historyLength === undefined ? '' : `?historyLength=${historyLength}`;
    return [task ?? message, (await alice.rest(`GET /tasks/${task?.id ?? message.taskId}${query}`)).json];
  },
  async gRPC(params) {
    const { task, message } = (await grpc.ask('SendMessage', params)).json;
    const id = task?.id ?? message.taskId;
    return [task ?? message, (await grpc.ask('GetTask', { id, ...length(params) })).json];
  },
};

function length({ configuration: { historyLength } }: Params): { readonly historyLength?: number } {
  return historyLength === undefined ? {} : { historyLength };
}

async function compare(lines: readonly string[], changes: Parameters<typeof script>[1] = {}): Promise<void> {
  for (const [name, exchange] of Object.entries(BINDINGS)) {
    const [sent, read] = await exchange(script(lines, changes));
    const expected = 'role' in sent ? read.status.message : read;
    assert.deepEqual(sent, expected, `${name}: ${lines.join(', ')}`);
    assert(read.status.state !== undefined);
  }
}

test('answers: a blocking send brings what GetTask says, however its turn ends', async () => {
  for (const lines of [
    ['complete Done.'],
    ['complete'],
    ['reply Hello.'],
    ['reject No.'],
    ['throw broken'],
    ['ask Which one?'],
    ['say Half.', 'complete Done.'],
    ['artifact a plain 10', 'complete Done.'],
    ['artifact a nasty 100000', 'artifact b plain 10', 'complete Done.'],
    ['chunks a 20 1000', 'complete'],
    ['crumbs 2000'],
    ['crumbs 9000'],
    ['nothing'],
  ]) {
    await compare(lines);
  }
});

test('answers: a text around the length at which frames are cut comes whole', async () => {
  for (const chars of [4_800, 5_200, 53_000, 53_600, 54_000, 54_400, 60_000, 200_000]) {
    await compare([`conclude plain ${chars}`]);
  }
  for (const chars of [800, 5_000, 9_000, 9_600, 12_000, 30_000]) await compare([`conclude nasty ${chars}`]);
});

test('answers: contexts and lengths of the history make no difference', async () => {
  for (const historyLength of [0, 1, 7]) await compare(['complete Done.'], { historyLength });
  for (let n = 0; n < 3; n += 1) await compare(['complete Done.'], { contextId: 'kitchen' });
});

test('answers: a task that somebody cancels or adds to meanwhile comes as it is then', async () => {
  for (const act of ['cancel', 'add'] as const) {
    for (const [name, exchange] of Object.entries(BINDINGS)) {
      const place = world.outside.place({ closed: true });
      const compared = exchange(script([`call ${place.name}`, 'complete Done.']));
      const { taskId } = await place.reached();
      if (act === 'cancel') await alice.rpc('CancelTask', { id: taskId });
      else await alice.rpc('SendMessage', script(['complete Both.'], { taskId, returnImmediately: true }));
      place.open();
      const [sent, read] = await compared;
      assert.deepEqual(sent, read, `${act}, ${name}`);
      assert.equal(sent.history.length, act === 'cancel' ? 1 : 3);
    }
  }
});
