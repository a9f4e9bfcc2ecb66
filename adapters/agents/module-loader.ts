import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nearestName } from '../../core/nearest-name.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { briefAgent } from './brief/brief-agent.ts';
import { placeOf } from './error-place.ts';

/** The agent cannot be loaded. The message is for the operator: it names the module, what was found and what is expected. */
export class AgentLoadError extends Error {
  override readonly name = 'AgentLoadError';
}

const MODULE = 'module:';
const TYPESCRIPT = /\.[cm]?tsx?$/;
const SCRIPT = /\.[cm]?[jt]sx?$/;
const COMPILE = 'compile it first and name the JavaScript file';

export interface LoadOptions {
  readonly cwd: string;
  /** Told what does not keep the agent from running but is hardly meant. */
  readonly warn?: (text: string) => void;
}

/** Edits between a field that means nothing here and one that was probably meant. */
const SLIP = 2;

/**
 * The agent that a specification names: `brief`, or `module:` with a path (from `cwd`), an absolute path or the name of
 * an installed package. A module's default export or its export `agent` is the agent, or a function that returns one
 * (a promise of one). Rejects with AgentLoadError.
 */
export async function loadAgent(spec: string, { cwd, warn = () => {} }: LoadOptions): Promise<Agent> {
  if (spec === 'brief') return briefAgent;
  const name = spec.startsWith(MODULE) ? spec.slice(MODULE.length).trim() : '';
  if (name === '') throw new AgentLoadError(`AGENT is "brief" or "module:<path or package>", not "${spec}"`);
  const loaded = await importModule(name, cwd);
  const [where, exported] = exportOf(loaded, name);
  const agent = validAgent(typeof exported === 'function' ? await made(exported, where) : exported, where);
  for (const slip of misspelt(agent)) warn(`${where} has ${slip}`);
  return agent;
}

async function importModule(name: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const isPath = name.startsWith('.') || isAbsolute(name);
  const specifier = isPath ? pathToFileURL(resolve(cwd, name)).href : name;
  try {
    return (await import(specifier)) as Record<string, unknown>;
  } catch (cause) {
    const looked = isPath ? resolve(cwd, name) : `package ${name}`;
    const file = isPath ? looked : undefined;
    const said = `the agent module ${looked} cannot be loaded: ${reason(cause, file)}`;
    throw new AgentLoadError(`${said}${remedyOf(name, cwd, isPath)}`, { cause });
  }
}

function remedyOf(name: string, cwd: string, isPath: boolean): string {
  if (isPath) return TYPESCRIPT.test(name) ? `; ${COMPILE}` : '';
  return SCRIPT.test(name) ? `; the file ${resolve(cwd, name)} is named "module:./${name}"` : '';
}

function exportOf(loaded: Readonly<Record<string, unknown>>, name: string): readonly [string, unknown] {
  for (const key of ['default', 'agent']) {
    if (loaded[key] !== undefined) return [`export "${key}" of ${name}`, loaded[key]];
  }
  const found = Object.keys(loaded);
  throw new AgentLoadError(
    `${name} has neither a default export nor an export "agent"; it exports ${found.length === 0 ? 'nothing' : found.join(', ')}`,
  );
}

async function made(factory: CallableFunction, where: string): Promise<unknown> {
  try {
    return (await factory()) as unknown;
  } catch (cause) {
    throw new AgentLoadError(`${where} is a function that should return an agent, but threw: ${reason(cause)}`, {
      cause,
    });
  }
}

function reason(cause: unknown, file?: string): string {
  const place = placeOf(cause, file);
  const text = cause instanceof Error ? cause.message : String(cause);
  return place === undefined ? text : `${text} (${place})`;
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `"${value}"`;
  return typeof value === 'object' ? 'an object' : `${typeof value}`;
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isSkill = (value: unknown): boolean =>
  isFields(value) &&
  [value.id, value.name, value.description].every((text) => typeof text === 'string' && text !== '') &&
  isTexts(value.tags) &&
  (value.examples === undefined || isTexts(value.examples));

/** Every optional property of the port, with what it must be when it is there. */
const PROPERTIES: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  ['recovery', '"rerun" or "review"', (value) => value === 'rerun' || value === 'review'],
  ['inputModes', 'an array of media types', isTexts],
  ['outputModes', 'an array of media types', isTexts],
  [
    'skills',
    'an array of { id, name, description, tags: string[], examples?: string[] }',
    (value) => Array.isArray(value) && value.every(isSkill),
  ],
];

function validAgent(agent: unknown, where: string): Agent {
  if (!isFields(agent)) {
    throw new AgentLoadError(`${where} is ${kind(agent)}; an agent is an object with a method run(turn)`);
  }
  if (typeof agent.run !== 'function') {
    throw new AgentLoadError(
      `${where} has run: ${kind(agent.run)}; an agent has a method run(turn) that yields updates`,
    );
  }
  for (const [name, expected, fits] of PROPERTIES) {
    const value = agent[name];
    if (value !== undefined && !fits(value)) {
      throw new AgentLoadError(`${where} has ${name}: ${kind(value)}; expected ${expected}`);
    }
  }
  return agent as unknown as Agent;
}

/** An agent may have fields of its own, so only those are told of that are nearly one of ours. */
function misspelt(agent: Agent): readonly string[] {
  const known = PROPERTIES.map(([name]) => name);
  return Object.keys(agent)
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, ...nearestName(name, known) }))
    .filter(({ distance }) => distance <= SLIP)
    .map(({ name, candidate }) => `${name}, which means nothing here; did you mean ${candidate}?`);
}
