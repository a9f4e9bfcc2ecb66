import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { runCommand } from '../interop/command.ts';
import { SUITE_REVISION } from './set-ups.ts';
import type { Suite } from './suite.ts';

/** Something that the run needs is not on this machine. The message says what to install. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}

export interface Wanted {
  /** Folder of the suite's checkout. */
  readonly tck: string | undefined;
  /** Interpreter; by default the first of some that has what is needed. */
  readonly python: string | undefined;
  readonly grpc: boolean;
}

const SOURCE = 'https://github.com/a2aproject/a2a-tck';
const GET_IT = `Get one: git clone --branch 1.0-dev ${SOURCE} && git -C a2a-tck checkout ${SUITE_REVISION}`;
/** Files of the suite that this runner leans on; its older lines do not have them. */
const MARKS = ['tck/requirements/registry.py', 'tests/compatibility/conftest.py', 'specification/a2a.json'];
const PYTHONS = ['python3', '/usr/bin/python3'];
const MODULES = ['pytest', 'httpx', 'jsonschema'];
const GRPC_MODULES = ['grpc', 'google.protobuf', 'google.rpc.status_pb2'];
const LOOK_MS = 60_000;
const INSTALL =
  'Install what is missing: pip install -r test/conformance/requirements.txt; without gRPC (--binding jsonrpc,http_json) ' +
  "Debian's python3-pytest, python3-httpx and python3-jsonschema are enough. --python names an interpreter.";
const MISSING = `
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception:
        print(name)
`;

/** Throws CannotRun. */
export async function findSuite({ tck, python, grpc }: Wanted): Promise<Suite> {
  if (tck === undefined) throw new CannotRun(`--tck has to name a checkout of the A2A TCK. ${GET_IT}`);
  const checkout = resolve(tck);
  const absent = MARKS.find((file) => !existsSync(join(checkout, file)));
  if (absent !== undefined)
    throw new CannotRun(`${tck} is no checkout of the A2A TCK: ${absent} is missing. ${GET_IT}`);
  const modules = grpc ? [...MODULES, ...GRPC_MODULES] : MODULES;
  const complaints: string[] = [];
  // The suite is run in its own folder, where a path from this one leads nowhere.
  const named = python === undefined || python === basename(python) ? python : resolve(python);
  for (const candidate of named === undefined ? PYTHONS : [named]) {
    const { code, stdout } = await runCommand([candidate, '-c', MISSING, ...modules], { limitMs: LOOK_MS });
    const missing = stdout
      .trim()
      .split(/\s+/)
      .filter((name) => name !== '');
    if (code === 0 && missing.length === 0) return { checkout, python: candidate };
    complaints.push(code === 0 ? `${candidate} lacks ${missing.join(', ')}` : `${candidate} cannot be run`);
  }
  throw new CannotRun(`${complaints.join('; ')}. ${INSTALL}`);
}

/** The commit that is checked out; undefined when the folder is not a clean working tree of git. */
export async function revisionOf(checkout: string): Promise<string | undefined> {
  const git = async (...args: string[]) => {
    const { code, stdout } = await runCommand(['git', '-C', checkout, ...args], { limitMs: LOOK_MS });
    return code === 0 ? stdout.trim() : undefined;
  };
  // A folder inside another repository would show that one's commit.
  if ((await git('rev-parse', '--show-prefix')) !== '') return undefined;
  if ((await git('status', '--porcelain', '--untracked-files=no')) !== '') return undefined;
  return git('rev-parse', 'HEAD');
}
