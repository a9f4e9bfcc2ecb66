import { DomainError, taskNotFound } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { leaveSlots, takeSlot } from '../../core/ports/slots.ts';
import type {
  AcceptDecision,
  Accepted,
  AcceptRequest,
  AcceptView,
  Claimed,
  Claims,
  ExecutionRecord,
  Fence,
  TaskStore,
  TaskView,
  UpdateRequest,
} from '../../core/ports/task-store.ts';
import { isTerminal } from '../../core/task.ts';
import { type Artifacts, NO_VIEWS } from './artifacts.ts';
import type { Changes, Created } from './changes.ts';
import type { Unfinished } from './column-values.ts';
import { createCredentials } from './credentials.ts';
import type { Connection, Query } from './database.ts';
import { type Erasure, eraseInBatches } from './erasure.ts';
import { type ClaimableRow, type Executions, holdsLease, toExecution } from './executions.ts';
import { broken } from './failures.ts';
import type { GroupCommit, Transaction } from './group-commit.ts';
import type { KeptTask, KeptTasks } from './kept-tasks.ts';
import type { Lanes } from './lanes.ts';
import type { PushConfigRows } from './push-configs.ts';
import { createReads } from './reads.ts';
import { createSteps, type StepKey } from './steps.ts';
import type { Arrival, Held, TaskRows } from './task-rows.ts';

/** There is none of that key: it goes with its task, and while that is there the message is a repeat. */
const INSERT_REQUEST = `insert into request (owner, context_id, message_id, fingerprint, task, sequence, answer)
  values (?, ?, ?, ?, ?, ?, ?)`;
const WRITE_PROBE = 'insert into probe (id, at) values (1, ?) on conflict (id) do update set at = excluded.at';

type RequestValues = [
  ...[owner: number, contextId: string, messageId: string, fingerprint: string],
  ...[task: number, sequence: number, answer: string],
];

interface TaskStoreOptions {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly clock: Clock;
  readonly erasure: Erasure;
  readonly tasks: TaskRows;
  readonly kept: KeptTasks;
  readonly artifacts: Artifacts;
  readonly executions: Executions;
  readonly lanes: Lanes;
  readonly changes: Changes;
  readonly pushConfigs: PushConfigRows;
  /** Called once, after the last write. */
  readonly closed: () => void;
}

interface ViewOptions {
  readonly fence?: Fence;
  readonly artifactIds?: readonly string[];
  readonly lostArtifacts?: boolean;
}

export function createTaskStore(options: TaskStoreOptions): TaskStore {
  const { connection, writes, clock, erasure, tasks, kept, artifacts, executions, lanes, changes, pushConfigs } =
    options;
  const credentials = createCredentials(connection, tasks);
  const steps = createSteps(connection);
  const reads = createReads({ connection, artifacts, clock });
  const insertRequest: Query<RequestValues, unknown> = connection.prepare(INSERT_REQUEST);
  const writeProbe: Query<[now: number], unknown> = connection.prepare(WRITE_PROBE);

  function viewOf(held: KeptTask, now: number, options: ViewOptions = {}): TaskView {
    const view: Unfinished<TaskView> = {
      now,
      record: held.record,
      open: held.open.map(toExecution),
      artifacts: artifacts.views(held.pk, options.artifactIds ?? [], options.fence),
      lost: options.lostArtifacts ? artifacts.lost(held.pk, options.fence) : NO_VIEWS,
    };
    const { credential } = held;
    if (credential && credential.expiresAt > now) view.credentialHash = credential.hash;
    return view;
  }

  function withOpen({ pk, owner, record, texts, tenant, credential, open = executions.open(pk) }: Held): KeptTask {
    return { pk, owner, record, texts, tenant, credential, open };
  }

  function acceptView(request: AcceptRequest, arrival: Arrival, now: number): AcceptView {
    const { owner, contextId } = request;
    const within = (held: Held): TaskView => ({
      ...viewOf(withOpen(held), now),
      volume: { inbox: executions.openBytes(held.pk), history: tasks.historyBytes(held.pk) },
    });
    const row = arrival.request;
    const repeated = row && tasks.byPk(row.task);
    const named = request.taskId === undefined ? undefined : tasks.owned(owner, request.taskId);
    const active = contextId === undefined ? undefined : tasks.active(owner, contextId);
    const view: Unfinished<AcceptView> = {
      now,
      tenant: arrival.tenant,
      free: request.lease !== undefined && !arrival.paused,
      // A repeat needs no place.
      queued: repeated ? { tenant: 0, everybody: 0 } : arrival.queued,
    };
    if (repeated) {
      const { record } = repeated;
      view.repeat = {
        fingerprint: row.fingerprint,
        taskId: record.id,
        sequence: row.sequence,
        answer: row.answer,
        record,
      };
    }
    if (named) view.task = within(named);
    if (active) view.active = within(active);
    return view;
  }

  function accept(request: AcceptRequest, decide: (view: AcceptView) => AcceptDecision, tx: Transaction): Accepted {
    const { owner, key, credential, pushConfig, lease } = request;
    const arrival = tasks.arrival(owner, key);
    const view = acceptView(request, arrival, tx.now);
    const decision = decide(view);
    if (decision.kind === 'repeat') {
      if (!view.repeat?.record) throw broken('no first request to repeat');
      const { record, sequence, answer } = view.repeat;
      const row = arrival.request;
      if (row && pushConfig) pushConfigs.keep(row.task, pushConfig, tx.now);
      return { kind: 'repeat', record, sequence, answer };
    }
    const held: Created =
      decision.kind === 'create'
        ? changes.create(
            {
              owner,
              task: decision.task,
              exclusive: decision.exclusive,
              change: decision.change,
              arrival,
              ownContext: request.contextId === undefined,
              begin: decision.begin && lease && { change: decision.begin, lease },
            },
            tx,
          )
        : changes.apply(toContinue(request, decision.taskId), decision.change, tx);
    const { record, begun } = held;
    if (key) {
      const { contextId, messageId, fingerprint } = key;
      insertRequest.run(held.owner, contextId, messageId, fingerprint, held.pk, record.sequence, decision.answer);
    }
    if (credential) credentials.keep(owner, credential, tx.now);
    if (pushConfig) pushConfigs.keep(held.pk, pushConfig, tx.now);
    const { kind, answer } = decision;
    const { sequence } = record;
    return begun ? { kind, record, begun, sequence, answer } : { kind, record, sequence, answer };
  }

  function toContinue(request: AcceptRequest, taskId: string): Held {
    const held = tasks.owned(request.owner, taskId);
    if (!held) throw taskNotFound();
    return held;
  }

  function fenced(fence: Fence): KeptTask {
    const read = () => {
      const found = tasks.byId(fence.taskId);
      return found && withOpen(found);
    };
    const held = kept.find(fence.taskId) ?? read();
    if (!held || held.tenant === 'removed' || isTerminal(held.record.status.state) || !holdsLease(held.open, fence)) {
      throw new DomainError('LEASE_LOST', 'The lease of this turn is lost');
    }
    return held;
  }

  function forUpdate({ fence, owner, taskId }: UpdateRequest): KeptTask {
    if (fence && fence.taskId !== taskId) throw broken('the fence is of another task');
    if (fence && owner === undefined) return fenced(fence);
    const held = owner ? tasks.owned(owner, taskId) : tasks.byId(taskId);
    if (!held) throw taskNotFound();
    return fence ? fenced(fence) : withOpen(held);
  }

  function claimOne(row: ClaimableRow, lease: { readonly worker: string; readonly until: number }, tx: Transaction) {
    const open = executions.lease(row, lease, tx.now);
    const turn = tasks.turn(row.task, row.ordinal);
    if (!turn) throw broken('an execution has no task');
    // With the turns that it had before.
    kept.drop(turn.held.record.id);
    const attempt = row.attempt + 1;
    const execution: ExecutionRecord = { ordinal: row.ordinal, attempt, leased: true };
    return { held: withOpen({ ...turn.held, open }), message: turn.message, attempt, execution };
  }

  function stepKey(fence: Fence, key: string): StepKey {
    return { task: fenced(fence).pk, ordinal: fence.ordinal, key, attempt: fence.attempt };
  }

  return {
    ...reads,

    accept: (request, decide) => writes.run((tx) => accept(request, decide, tx), decide.moved),

    update: (request, decide) =>
      writes.run((tx) => {
        const held = forUpdate(request);
        const { open } = held;
        const change = decide(viewOf(held, tx.now, request));
        if (change) changes.apply(held, change, tx);
        const { fence, pendingAfter } = request;
        // Unless this change opened some, no other turn is open than those that are known.
        const opened = change?.executions?.some((write) => !('close' in write)) ?? false;
        const alone = !opened && open.length <= 1;
        const pending = fence && !alone ? executions.pending(held.pk, fence.ordinal, pendingAfter) : [];
        return { changed: change !== undefined, pending };
      }, decide.moved),

    async claim(request, begin) {
      const { worker, leaseMs, running, slots } = request;
      /** Slots that this claim has taken. */
      let taken = 0;
      const leave = (count: number): void => {
        taken -= count;
        if (slots) leaveSlots(slots, count);
      };
      const claimInside = (tx: Transaction): Claims => {
        // Of a transaction that was rolled back.
        leave(taken);
        const lease = { worker, until: tx.now + leaseMs };
        const claimed: Claimed[] = [];
        let bytes = 0;
        const extend = (): boolean => running !== undefined && executions.extend(lease, running).length > 0;
        const takes = (row: ClaimableRow): boolean => {
          // Nothing was taken for a turn that never ran.
          const takenBytes = row.attempt > 0 ? executions.takenBytes(row.task, row.ordinal) : 0;
          bytes += (row.more === 0 ? row.bytes : executions.openBytes(row.task)) + takenBytes;
          const fits = bytes <= LIMITS.claimBytes || claimed.length === 0;
          // Or what is left would wait for the next poll.
          if (!fits) tx.notify('work');
          if (!fits || (slots && !takeSlot(slots))) return false;
          taken += 1;
          return true;
        };
        const { next, more } = lanes.claim(request, tx.now, { takes, extend });
        for (let row = next(); row; row = next()) {
          const { held, message, attempt, execution } = claimOne(row, lease, tx);
          const change = begin(viewOf(held, tx.now), execution);
          const turn = { ordinal: row.ordinal, attempt, ...(row.trace === null ? {} : { trace: row.trace }) };
          const begun: Transaction = { ...tx, moved: (transition) => tx.moved({ turn, ...transition }) };
          const { record } = change ? changes.apply(held, change, begun) : held;
          const fence = { taskId: record.id, ordinal: row.ordinal, worker, attempt };
          if (change?.executions && !holdsLease(executions.open(row.task), fence)) continue;
          const alone = held.open.length === 1 && !change?.executions;
          // Nothing was taken for a turn that never ran.
          const handed = row.attempt > 0 ? executions.taken(row.task, row.ordinal) : [];
          const one: Unfinished<Claimed> = {
            fence,
            record,
            message,
            lost: row.lease_owner !== null || row.lost === 1,
            pending: alone ? handed : [...handed, ...executions.pending(row.task, row.ordinal)],
          };
          if (row.trace !== null) one.trace = row.trace;
          claimed.push(one);
        }
        // Of turns whose time was up.
        leave(taken - claimed.length);
        return { claimed, more: more() };
      };
      try {
        return await writes.run(claimInside, begin.moved);
      } catch (error) {
        leave(taken);
        throw error;
      }
    },

    heartbeat: (worker, leaseMs, options) =>
      writes.run((tx) => executions.extend({ worker, until: tx.now + leaseMs }, options?.only)),

    beginStep: (fence, key) => writes.run(({ now }) => ({ result: steps.begin(stepKey(fence, key), now) })),

    endStep: (fence, key, value) => writes.run(({ now }) => steps.end(stepKey(fence, key), value, now)),

    credential: async (subject) => connection.read(() => credentials.find(subject, clock.now())),

    renewCredential: async (subject, credential, resume) => {
      // Those take no place in the write queue.
      const known = connection.snapshot(() => credentials.isKnown(subject, credential, clock.now()));
      if (known) return { stored: false, resumed: [] };
      return writes.run((tx) => {
        const resumed: string[] = [];
        if (tasks.tenantStatus(subject.tenant) === 'removed') return { stored: false, resumed };
        const stored = credentials.keep(subject, credential, tx.now);
        // The token that counts from now on: an older one than the stored does not replace it.
        const current = credentials.find(subject, tx.now);
        if (!current) return { stored, resumed };
        for (const held of tasks.parked(subject, current.hash)) {
          const change = resume(viewOf(withOpen(held), tx.now));
          if (!change) continue;
          changes.apply(held, change, tx);
          resumed.push(held.record.id);
        }
        return { stored, resumed };
      }, resume.moved);
    },

    sweepCredentials: () =>
      writes.run(({ now }) => {
        credentials.sweep(now);
        return credentials.hashes();
      }),

    purge: (olderThanMs, limit) =>
      eraseInBatches(limit, (size) => writes.run(({ now }) => erasure.ended(now - olderThanMs, size))),

    async backlog() {
      const now = clock.now();
      const { open, leased, oldest } = connection.read(() => executions.backlog(now));
      return { waiting: open - leased, leased, oldestMs: oldest === null ? 0 : now - oldest };
    },

    ping: () =>
      writes.run(({ now }) => {
        writeProbe.run(now);
      }),

    async close() {
      writes.close();
      options.closed();
    },
  };
}
