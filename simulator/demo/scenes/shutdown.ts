import { during, type Scene, showEnd, stateOf } from '../stage.ts';

const KEY = 'SHOP-7';

export const SHUTDOWN: Scene = {
  title: 'The service told to stop while somebody is waiting',
  async play(stage) {
    const { jira, site, service, show, claim } = stage;
    show.does('Alice', `assigns ${KEY} to the agent, and Jira streams the answer`);
    const gate = site.traffic.gate(KEY);
    const streaming = jira.assign(KEY).stream();
    await during(streaming, gate.reached());
    show.does('Operator', 'kill -TERM');
    service.signal('SIGTERM');
    await service.logged('service.stopping');
    const refused = await jira.get('anything').then(
      ({ status }) => `HTTP ${status}`,
      () => undefined,
    );
    gate.open();
    const stream = await streaming;
    showEnd(stage, stream.task, 3);
    const exit = await service.exited();
    claim(refused === undefined, 'new connections were refused at once', refused);
    claim(
      stream.end === 'agent' && stateOf(stream.task) === 'COMPLETED',
      'the running task was finished first, its stream to the end',
      `${stateOf(stream.task)}, ended by: ${stream.end}`,
    );
    claim(exit === 0, 'then the process ended with exit code 0', String(exit));
  },
};
