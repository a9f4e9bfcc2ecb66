import { join } from 'node:path';
import { install, lacks, pythonWith } from '../installation.ts';

/*
 * The kit's own agents, one for each SDK and version. What each needs is installed before the kit starts it, because the
 * kit would wait for a registry without a limit.
 */

export interface Peer {
  /** As the kit calls it. */
  readonly name: string;
  readonly protocol: '1.0' | '0.3';
  /** The bindings that it shares with us in that version. */
  readonly bindings: readonly string[];
  /** `kit`: the copy of the checkout. The reason why it cannot be had, or undefined. */
  prepare(kit: string): Promise<string | undefined>;
}

const ALL = ['jsonrpc', 'http_json', 'grpc'];
/** 0.3 is served over JSON-RPC alone. */
const LEGACY = ['jsonrpc'];
/** Cargo compiles everything that it downloads. */
const LIMITS = { limitMs: 900_000 };

export const REQUIREMENTS = { '1.0': 'itk/requirements.txt', '0.3': 'itk/requirements-v03.txt' } as const;

export async function interpreterFor(protocol: Peer['protocol']): Promise<string | { readonly unavailable: string }> {
  const python = await pythonWith(`itk-${protocol}`, REQUIREMENTS[protocol], LIMITS);
  return 'unavailable' in python ? python : (python.command[0] ?? '');
}

async function python(protocol: Peer['protocol']): Promise<string | undefined> {
  const interpreter = await interpreterFor(protocol);
  return typeof interpreter === 'string' ? undefined : interpreter.unavailable;
}

async function compiled(tool: string, kit: string, { folder, command }: { folder: string; command: string[] }) {
  return (
    (await lacks([tool, tool === 'go' ? 'version' : '--version'])) ??
    install(command, { cwd: join(kit, folder), ...LIMITS })
  );
}

const go = (kit: string, folder: string) =>
  compiled('go', kit, { folder, command: ['go', 'build', '-o', join(kit, 'bin', 'unused'), '.'] });

function npm(kit: string, folder: string): Promise<string | undefined> {
  const command = [
    'npm',
    'install',
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=1',
    '--fetch-timeout=20000',
  ];
  return install(command, { cwd: join(kit, folder), ...LIMITS });
}

/** Needs protoc, or PROTOC that names one. */
const cargo = (kit: string, folder: string) =>
  compiled('cargo', kit, { folder, command: ['cargo', 'build', '--release'] });

const maven = (kit: string, folder: string) =>
  compiled('mvn', kit, { folder, command: ['mvn', '-B', '-q', 'package', '-DskipTests'] });

export const PEERS: readonly Peer[] = [
  { name: 'python_v10', protocol: '1.0', bindings: ALL, prepare: () => python('1.0') },
  { name: 'go_v10', protocol: '1.0', bindings: ALL, prepare: (kit) => go(kit, 'agents/go/v10') },
  { name: 'ts_v10', protocol: '1.0', bindings: ALL, prepare: (kit) => npm(kit, 'agents/ts/v10') },
  { name: 'java_v10', protocol: '1.0', bindings: ALL, prepare: (kit) => maven(kit, 'agents/java/v10') },
  { name: 'rust_v10', protocol: '1.0', bindings: ALL, prepare: (kit) => cargo(kit, 'agents/rust/v10') },
  { name: 'python_v03', protocol: '0.3', bindings: LEGACY, prepare: () => python('0.3') },
  { name: 'go_v03', protocol: '0.3', bindings: LEGACY, prepare: (kit) => go(kit, 'agents/go/v03') },
  { name: 'ts_v03', protocol: '0.3', bindings: LEGACY, prepare: (kit) => npm(kit, 'agents/ts/v03') },
];
