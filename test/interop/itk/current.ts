import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launchService } from '../../support/service-process.ts';

/*
 * What the interop kit starts as the agent under test: the shipped service, open to this machine, on the port that it
 * is told. Ends with it.
 */

const { values } = parseArgs({ options: { httpPort: { type: 'string' }, grpcPort: { type: 'string' } } });
const directory = mkdtempSync(join(tmpdir(), 'connector-itk-'));
const service = launchService({
  directory,
  settings: {
    PORT: values.httpPort ?? '0',
    GRPC_PORT: values.grpcPort ?? '0',
    A2A_VERSIONS: process.env.CURRENT_VERSIONS ?? '1.0,0.3',
    A2A_AUTH: 'anonymous',
    AGENT: `module:${fileURLToPath(new URL('./agent.js', import.meta.url))}`,
    LOG_LEVEL: 'info',
  },
});
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => service.signal('SIGTERM'));
const outcome = await service.exited();
console.error(service.output());
rmSync(directory, { recursive: true, force: true });
process.exit(outcome === 0 ? 0 : 1);
