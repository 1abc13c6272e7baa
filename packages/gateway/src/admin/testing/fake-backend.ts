import { EMPTY_LOG } from '@sluice/core'
import type { AdminBackend, WriteRequest } from '../../supervise/admin-backend.js'
import type { DrainRequest } from '../../supervise/health/target-states.js'
import type { RecordQuery, RecordsAnswer } from '../../supervise/records/record-query.js'
import type { ApplyResult } from '../../supervise/rollout/apply-result.js'
import type { SupervisorStatus } from '../../supervise/status/status.js'
import { fakeBundle } from '../../supervise/testing/fake-plan.js'
import type { ResponsesQuery } from '../../worker/messages.js'
import type { CallSession } from '../endpoint.js'

/** Digest served by the fake backend. */
export const FAKE_DIGEST = 'ab'.repeat(32)

/** Session of a call without a dashboard. */
export const NO_SESSION: CallSession = {
  isOn: false,
  isLoginRequired: false,
  open: () => ({ ok: true, actor: 'local@a', role: 'admin', cookie: null }),
  close: () => '',
}

/** Returns the status of a healthy gateway. */
export function fakeStatus(changes: Partial<SupervisorStatus> = {}): SupervisorStatus {
  return {
    version: '0.0.0',
    pid: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    uptimeMs: 1,
    digest: FAKE_DIGEST,
    origin: 'file',
    ready: true,
    reason: null,
    draining: false,
    workers: [],
    listeners: [],
    admin: null,
    cacheServer: null,
    control: null,
    lastRollout: null,
    plugins: [],
    warnings: [],
    ...changes,
  }
}

/** A gateway that only records requests. Every deploy returns `result`. */
export class FakeBackend implements AdminBackend {
  readonly journal: { readonly text: string; readonly request: WriteRequest }[] = []
  result: ApplyResult = { result: 'applied', digest: FAKE_DIGEST, changes: [], warnings: [] }
  currentStatus = fakeStatus()
  hasPlan = true
  drainedBy: string | null = null
  readonly succession: AdminBackend['succession'] = {
    isUpgrading: false,
    upgrade: async () => ({ ok: true, pid: 1, version: '2.0.0', durationMs: 1 }),
  }
  readonly limits: AdminBackend['limits'] = {
    get: async ({ policy }) => (policy === 'none' ? null : []),
    reset: async ({ policy }) => (policy === 'none' ? null : 1),
    set: async ({ policy }) => (policy === 'none' ? null : []),
  }
  readonly bans: AdminBackend['bans'] = {
    list: async (policy) => (policy === 'none' ? null : []),
    lift: async (policy) => (policy === 'none' ? null : 1),
  }
  readonly held: AdminBackend['held'] = {
    prepare: (apply) => apply(async () => true),
    settle: async (digest) => (digest === FAKE_DIGEST ? this.result : null),
  }
  readonly questions: AdminBackend['questions'] = {
    explain: async () => ({ ok: true, json: '{}' }),
    explainRecord: async () => ({ ok: true, json: '{}' }),
    document: async () => ({ ok: true, json: '{}' }),
    diffDeploys: async () => ({ ok: true, json: '{"changes":[]}' }),
  }
  readonly stepTraces: AdminBackend['stepTraces'] = {
    hasRoom: true,
    start: (_request, _actor, receiver) => {
      receiver.onEnd({ reason: 'stopped', traces: 0, lost: 0 })
      return () => {}
    },
  }
  /** Queries for records of the traffic log. */
  readonly searched: RecordQuery[] = []
  found: RecordsAnswer = {
    ok: true,
    searched: { kind: 'file', where: 'data/traffic', isComplete: true },
    records: [{ '@timestamp': '2026-01-01T00:00:00.000Z', id: 'r1', hdr: { req_in: { a: '1' } } }],
  }
  readonly records: AdminBackend['records'] = {
    search: async (query) => {
      this.searched.push(query)
      return this.found
    },
  }
  /** Deploys wait for this promise. */
  until: Promise<void> = Promise.resolve()

  status(): SupervisorStatus {
    return this.currentStatus
  }

  async plan() {
    return this.hasPlan ? { digest: FAKE_DIGEST, plan: fakeBundle().plan } : null
  }

  async samples() {
    return [{ name: 'gw_requests_total', labels: '', value: 1 }]
  }

  async metrics() {
    return this.hasPlan ? 'gw_requests_total 1\n' : null
  }

  targetsOf() {
    return []
  }

  async drainTargets({ upstream }: DrainRequest): Promise<boolean> {
    return upstream !== 'none'
  }

  /** Queries sent to the workers about stored responses. */
  readonly asked: ResponsesQuery[] = []

  async queryResponses(what: ResponsesQuery) {
    this.asked.push(what)
    return [{ purged: 2, found: [] }, null]
  }

  logIdentity() {
    return EMPTY_LOG
  }

  deploys() {
    return []
  }

  async apply(text: string, request: WriteRequest): Promise<ApplyResult> {
    this.journal.push({ text, request })
    await this.until
    if (text === 'throw') throw new Error('a bug of the backend')
    return this.result
  }

  async rollback(to: string | null, request: WriteRequest): Promise<ApplyResult | null> {
    return to === 'none' ? null : this.apply(`rollback ${to}`, request)
  }

  drain(actor: string): void {
    this.drainedBy = actor
  }
}
