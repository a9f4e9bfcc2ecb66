import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../interop/command.ts';
import type { SuiteResult } from './judge.ts';
import { CannotRun, findSuite, revisionOf } from './prerequisites.ts';
import { runSuite, type Suite } from './suite.ts';

/*
 * The plug-in, over a planted suite of a dozen tests, against a receiver that writes down what arrives. Where Python or
 * its packages are missing it is skipped, as the real suite would not run there either.
 */

const CONFTEST = `
import pytest
def pytest_addoption(parser):
    for name in ("--sut-host", "--transport", "--webhook-host"):
        parser.addoption(name)
@pytest.fixture
def sut(request):
    return request.config.getoption("--sut-host")
@pytest.fixture
def untidy():
    yield
    raise RuntimeError("could not tidy up")
`;

const TESTS = `
import grpc, httpx, pytest
from specification.generated import a2a_pb2

def send(sut, message_id="tck-one", **headers):
    return httpx.post(sut + "/a2a", headers=headers, json={"params": {"message": {"messageId": message_id}}})

def test_passes(sut):
    """CORE-SEND-001: passes."""
    send(sut)

def test_again(sut):
    """CORE-SEND-001: the same id."""
    with httpx.Client(base_url=sut) as client:
        client.post("/a2a/v1", json={"message": {"messageId": "tck-one"}}, headers={"A2A-Extensions": "urn:own"})

def test_card(sut):
    """CARD-DISC-001: the card."""
    httpx.get(sut + "/.well-known/agent-card.json")

class TestCapabilityExtensionRequired:
    """CORE-CAP-004: without the extension."""
    def test_without(self, sut):
        send(sut, "tck-without")

def test_fails():
    """CORE-GET-001: fails."""
    assert False, "CORE-GET-002 [something else] failed"

def test_setup_skips():
    """CORE-HIST-001: hollow."""
    pytest.skip("send_message failed: boom")

def test_not_met():
    """CARD-CACHE-001: not met."""
    pytest.xfail("CARD-CACHE-001 is not met")

def test_untidy(untidy):
    """CORE-LIST-001: passes, but."""

def test_swallows():
    """CORE-STREAM-001: a stream that never ends, in a suite that ignores errors."""
    while True:
        try:
            while True: pass
        except Exception:
            pass

def test_something_rest(): pass
@pytest.mark.http_json
def test_marked(): pass
@pytest.mark.parametrize("transport", ["grpc", "jsonrpc"])
def test_each(transport):
    """CORE-CAP-001: each."""
`;

const MARKS: Readonly<Record<string, string>> = {
  'tck/requirements/registry.py': '',
  'specification/a2a.json': '{}',
  'tests/compatibility/conftest.py': CONFTEST,
  'tests/compatibility/test_planted.py': TESTS,
};

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly messageId: string | undefined;
}

const calls: Call[] = [];
const checkout = mkdtempSync(join(tmpdir(), 'connector-planted-suite-'));
let suite: Suite | undefined;
let missing = '';
let results: readonly SuiteResult[] = [];

before(async () => {
  for (const [file, text] of Object.entries(MARKS)) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), text);
  }
  try {
    suite = await findSuite({ tck: checkout, python: undefined, grpc: false });
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    missing = error.message;
    return;
  }
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const json = JSON.parse(body || '{}') as {
        message?: { messageId: string };
        params?: { message: { messageId: string } };
      };
      const messageId = (json.message ?? json.params?.message)?.messageId;
      calls.push({ path: request.url ?? '', headers: request.headers, messageId });
      response.end('{}');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const target = { origin, transport: 'jsonrpc', token: 'secret', extension: 'urn:needed', testLimitSeconds: 2 };
    results = await runSuite(suite, target);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
after(() => rmSync(checkout, { recursive: true, force: true }));

function seen(name: string) {
  return results
    .filter((each) => each.test.endsWith(`::${name}`))
    .map(({ requirement, outcome }) => `${requirement} ${outcome}`);
}

describe('conformance plug-in', () => {
  test('conformance plug-in: every outcome is reported as what it is, under its requirement', (t) => {
    if (suite === undefined) return t.skip(missing);
    assert.deepEqual(seen('test_passes'), ['CORE-SEND-001 passed']);
    assert.deepEqual(seen('test_fails'), ['CORE-GET-002 failed']);
    assert.deepEqual(seen('test_setup_skips'), ['CORE-HIST-001 skipped']);
    assert.deepEqual(seen('test_not_met'), ['CARD-CACHE-001 unmet']);
    assert.deepEqual(seen('test_untidy'), ['CORE-LIST-001 passed', 'CORE-LIST-001 failed']);
  });

  test('conformance plug-in: a test that never ends fails at its limit, whatever it ignores', (t) => {
    if (suite === undefined) return t.skip(missing);
    assert.deepEqual(seen('test_swallows'), ['CORE-STREAM-001 failed']);
  });

  test('conformance plug-in: only tests of the binding run, and those of no binding', (t) => {
    if (suite === undefined) return t.skip(missing);
    assert.deepEqual(seen('test_each[jsonrpc]'), ['CORE-CAP-001 passed']);
    for (const name of ['test_each[grpc]', 'test_marked', 'test_something_rest']) assert.deepEqual(seen(name), []);
  });

  test('conformance plug-in: no message id is sent twice, and each keeps its beginning', (t) => {
    if (suite === undefined) return t.skip(missing);
    const ids = calls.flatMap(({ messageId }) => messageId ?? []);
    assert.equal(ids.length, 3);
    assert.equal(new Set(ids).size, 3);
    assert.ok(
      ids.every((id) => id.startsWith('tck-')),
      ids.join(),
    );
  });

  test('conformance plug-in: every call carries the token, and none for the card', (t) => {
    if (suite === undefined) return t.skip(missing);
    const tokens = calls.map(({ path, headers }) => `${path} ${headers.authorization}`);
    const card = '/.well-known/agent-card.json undefined';
    assert.deepEqual(tokens, ['/a2a Bearer secret', '/a2a/v1 Bearer secret', card, '/a2a Bearer secret']);
  });

  test('conformance plug-in: the required extension is activated beside others, and left out by the test of that', (t) => {
    if (suite === undefined) return t.skip(missing);
    const activated = calls.map(({ headers }) => headers['a2a-extensions']);
    assert.deepEqual(activated, ['urn:needed', 'urn:own,urn:needed', undefined, undefined]);
  });
});

describe('conformance prerequisites', () => {
  test('conformance prerequisites: without a checkout, or with a folder that is none, it says how to get one', async () => {
    const clone = /git clone --branch 1\.0-dev .* checkout [0-9a-f]{40}/;
    const wanted = { python: undefined, grpc: false };
    await assert.rejects(findSuite({ tck: undefined, ...wanted }), clone);
    await assert.rejects(findSuite({ tck: tmpdir(), ...wanted }), clone);
  });

  test('conformance prerequisites: an interpreter that is not there, or lacks a module, is named with what to install', async () => {
    const python = join(checkout, 'no-python');
    const wanted = { tck: checkout, grpc: true };
    await assert.rejects(
      findSuite({ ...wanted, python }),
      /no-python cannot be run\. .*requirements\.txt.*python3-pytest/,
    );
    writeFileSync(python, '#!/bin/sh\necho httpx; echo grpc\n', { mode: 0o755 });
    await assert.rejects(findSuite({ ...wanted, python }), /no-python lacks httpx, grpc\. /);
  });

  test('conformance prerequisites: an interpreter named by a path from here is found from the folder of the suite', async () => {
    const python = join(checkout, 'complete-python');
    writeFileSync(python, '#!/bin/sh\n', { mode: 0o755 });
    const found = await findSuite({ tck: checkout, python: relative('.', python), grpc: true });
    assert.equal(found.python, python);
  });

  test('conformance prerequisites: a run that cannot be made ends with 2, not as a pass or a failure', async () => {
    const program = fileURLToPath(new URL('./run.js', import.meta.url));
    for (const args of [[], ['--tck', tmpdir()], ['--tck', checkout, '--binding', 'soap'], ['--no-such-option']]) {
      const { code, stderr } = await runCommand([process.execPath, program, ...args], { limitMs: 60_000 });
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^test:tck: [^\n]+\n$/);
    }
  });

  test('conformance prerequisites: a folder without git has no revision', async () => {
    assert.equal(await revisionOf(checkout), undefined);
  });
});
