import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from '../../src/config.ts';
import { readEnvironment } from '../../src/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'environment-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('environment: a variable of the process wins over the file, also when it is blank', () => {
  const file = join(folder, '.env');
  writeFileSync(file, '# local\nPORT=9000\nHOST="0.0.0.0"\nFORGE_APP_ID=abc\n');
  assert.deepEqual(
    { ...readEnvironment({ PORT: '9001', FORGE_APP_ID: '' }, file) },
    {
      PORT: '9001',
      HOST: '0.0.0.0',
      FORGE_APP_ID: '',
    },
  );
});

test('environment: without a file the process alone counts', () => {
  assert.deepEqual(readEnvironment({ PORT: '1' }, join(folder, 'missing')), { PORT: '1' });
});

test('environment: a file that cannot be read is a configuration error', () => {
  const file = join(folder, 'folder');
  mkdirSync(file);
  assert.throws(() => readEnvironment({}, file), ConfigError);
});
