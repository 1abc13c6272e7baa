import { DEPLOY_SCHEMAS } from './openapi-deploy-schemas.js'
import {
  count,
  digest,
  listOf,
  numbers,
  object,
  origin,
  ref,
  text,
  textOrNull,
  time,
} from './openapi-parts.js'
import { PLAN_SCHEMAS } from './openapi-plan-schemas.js'
import { RECORD_SCHEMAS } from './openapi-record-schemas.js'

const policyRuns = {
  type: 'object',
  description: 'Measured runs of policies by their id.',
  additionalProperties: object({ count, seconds: { type: 'number' } }),
}
const objection = object({ worker: { ...count, description: '0: the supervisor itself.' }, reason: text })

const logCounts = {
  received: count,
  indexed: count,
  dead: count,
  deadRemoved: { ...count, description: 'Dead letters that were deleted. Not part of the sum.' },
  dropped: count,
  droppedBy: numbers,
  onDisk: count,
  inMemory: count,
  lagMs: count,
}
const logTargets = {
  type: 'object',
  additionalProperties: ref('LogCounts'),
  description: 'The same counts per target, if the log has several.',
}

const targetState = {
  health: { enum: ['unchecked', 'unknown', 'healthy', 'unhealthy'] },
  problem: { ...textOrNull, description: 'Reason why the last check failed.' },
  checkedAt: { type: ['string', 'null'], format: 'date-time' },
  drained: { type: 'boolean' },
}

/** Schemas referenced by the operations in `openapi.ts`. */
export const OPENAPI_SCHEMAS = {
  ...DEPLOY_SCHEMAS,
  ...PLAN_SCHEMAS,
  ...RECORD_SCHEMAS,
  Problem: {
    ...object({ type: text, title: text, status: count, code: text, detail: text }),
    description: 'RFC 9457. Some codes add members: diagnostics, reasons, digest.',
  },
  Health: object({ status: { enum: ['ok', 'ready'] } }),
  OpenApi: { type: 'object' },
  Plan: { type: 'object', description: 'The plan as printed by `gw render`.' },
  Document: object({ yaml: { ...text, description: 'The document without comments.' } }),
  Upstreams: object({
    digest,
    upstreams: listOf(ref('Upstream')),
  }),
  Upstream: object(
    { name: text, balance: text, targets: listOf(ref('Target')), numbers },
    { canary: ref('Canary') },
  ),
  Canary: object({
    percent: { type: 'number', description: 'Share of the keys, from 0 to 1.' },
    key: { ...text, description: 'The key, such as `ip` or `header:x-user`.' },
    abortedWorkers: {
      ...count,
      description: 'Number of workers that send no requests to the canary until the cooldown ends.',
    },
  }),
  Target: object({
    url: text,
    weight: count,
    role: text,
    state: object({
      ...targetState,
      workers: { ...numbers, description: 'Number of workers by the state they see.' },
    }),
    numbers,
  }),
  TargetName: {
    ...object(
      { upstream: text },
      { target: { ...text, description: 'URL of the target. Omit it for all targets.' } },
    ),
    additionalProperties: false,
  },
  TargetStates: object({ upstream: text, targets: listOf(object({ origin: text, ...targetState })) }),
  Counts: object({
    counts: listOf(
      object({
        policy: text,
        limit: { ...text, description: '100/s, 10000/month' },
        place: { ...text, description: 'Route or API with its own counter; empty for one counter in total.' },
        key: { ...text, description: 'Empty for requests without a key.' },
        used: { ...count, description: 'Includes what workers have reserved but not used yet.' },
        remaining: count,
        resetAt: time,
      }),
    ),
    isComplete: { type: 'boolean', description: 'False if there are more than 1,000.' },
  }),
  CountName: {
    ...object({ policy: text }, { key: { ...text, description: 'Omit it for all keys.' } }),
    additionalProperties: false,
  },
  CountsReset: object({ policy: text, key: { type: ['string', 'null'] }, reset: count }),
  Bans: object({
    bans: listOf(object({ policy: text, key: text, until: { ...text, format: 'date-time' } })),
    isComplete: { type: 'boolean', description: 'False if there are more.' },
  }),
  BansLifted: object({ policy: text, key: { type: ['string', 'null'] }, lifted: count }),
  QuotaUse: { ...object({ policy: text, key: text, used: count }), additionalProperties: false },
  LogCounts: object(logCounts),
  LogIdentity: {
    ...object(logCounts, { targets: logTargets }),
    description: 'received = indexed + dead + dropped + onDisk + inMemory, always.',
  },
  Log: object(
    {
      ...logCounts,
      workers: listOf(
        object({ id: count, pid: { type: ['integer', 'null'] }, ...logCounts }, { targets: logTargets }),
      ),
    },
    { targets: logTargets },
  ),
  Changes: object({ changes: listOf(ref('Change')) }),
  Change: object(
    {
      kind: { enum: ['add', 'change', 'remove'] },
      what: { ...text, description: 'Part of the plan, such as `route`.' },
      name: text,
      details: listOf(text),
    },
    { cost: ref('RouteCost') },
  ),
  RouteCost: {
    ...object({
      addedMicros: { type: 'number' },
      policies: listOf(
        object({
          use: text,
          uses: { type: 'integer' },
          addedMicros: { type: ['number', 'null'], description: 'Null: never measured.' },
        }),
      ),
    }),
    description: 'Measured CPU time per request of the policies that were added to a route or removed.',
  },
  ExplainedRequest: {
    ...object(
      { url: { ...text, description: 'Path with its query, or an absolute URL.' } },
      {
        method: { ...text, default: 'GET' },
        headers: { type: 'object', additionalProperties: text },
        body: text,
        clientIp: { ...text, default: '127.0.0.1' },
        consumer: {
          ...object(
            { id: text },
            {
              name: text,
              groups: listOf(text),
              roles: listOf(text),
              scopes: listOf(text),
              claims: { type: 'object', additionalProperties: text },
            },
          ),
          description: 'Consumer to assume as authenticated.',
        },
      },
    ),
    additionalProperties: false,
  },
  HeldDigest: { ...object({ digest: text }), additionalProperties: false },
  Discarded: object({ result: { const: 'discarded' }, digest: text }),
  Diagnostic: object({
    severity: { enum: ['error', 'warning'] },
    file: text,
    line: count,
    column: count,
    path: text,
    message: text,
    remedy: text,
  }),
  PurgeScope: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: { key: text, prefix: text, tag: text, all: { const: true } },
  },
  Purged: object({ purged: count, unanswered: count }),
  Cache: object({
    entries: count,
    bytes: count,
    evictions: count,
    requests: { type: 'object', additionalProperties: count },
  }),
  StoredResponses: object({
    stored: listOf(
      object({
        key: text,
        status: count,
        bytes: count,
        ageSeconds: count,
        ttlSeconds: { type: 'integer' },
        tags: listOf(text),
        vary: listOf(text),
      }),
    ),
  }),
  Metrics: object({
    at: time,
    boundsSeconds: { ...listOf({ type: 'number' }), description: 'Upper bounds of the latency buckets.' },
    total: ref('Traffic'),
    routes: listOf(ref('RouteTraffic')),
    errors: { ...numbers, description: 'Number of errors by code.' },
    certificates: listOf(object({ file: text, expiresSeconds: { type: ['integer', 'null'] } })),
  }),
  RouteTraffic: {
    allOf: [ref('Traffic'), object({ id: text, errors: numbers, policies: policyRuns })],
  },
  Traffic: object({
    requests: { ...numbers, description: 'Number of requests by status class, such as 2xx.' },
    durationSeconds: { type: 'number', description: 'Sum of all durations.' },
    buckets: {
      ...listOf(count),
      description: 'Number of requests per latency bucket, not cumulative. The last one has no bound.',
    },
  }),
  StepTraceRequest: {
    ...object(
      {},
      {
        route: { ...text, description: 'Id of the route; default: all.' },
        when: { ...text, description: 'Condition (CEL) on the request or its result; default: all.' },
        count: { type: 'integer', minimum: 1, maximum: 1000, default: 10 },
        seconds: { type: 'integer', minimum: 1, maximum: 600, default: 60 },
      },
    ),
    additionalProperties: false,
  },
  StepTraceLine: {
    oneOf: [
      object({ kind: { const: 'armed' } }),
      object({ kind: { const: 'trace' }, trace: ref('StepTrace') }),
      object({
        kind: { const: 'end' },
        reason: { enum: ['count', 'duration', 'stopped'] },
        traces: count,
        lost: { ...count, description: 'Matching requests that were not traced: too many at once.' },
      }),
    ],
  },
  StepTrace: object({
    id: text,
    at: time,
    worker: count,
    route: text,
    method: text,
    path: text,
    query: text,
    status: count,
    result: text,
    code: text,
    ms: { type: 'number' },
    traceId: text,
    upstream: {
      anyOf: [object({ name: text, target: text, status: count }), { type: 'null' }],
    },
    steps: listOf(ref('TracedStep')),
    lostSteps: count,
  }),
  TracedStep: object({
    phase: text,
    policy: text,
    use: text,
    outcome: { enum: ['continue', 'respond', 'skipped', 'error'] },
    note: text,
    micros: count,
    changes: listOf(ref('StepChange')),
  }),
  StepChange: object({
    what: text,
    side: { enum: ['request', 'response'] },
    name: text,
    before: { type: ['string', 'null'] },
    after: { type: ['string', 'null'] },
    diff: { type: ['array', 'null'], items: text, description: 'Lines of a body that differ.' },
  }),
  Session: object({
    name: { ...text, description: 'Id of the token.' },
    role: { enum: ['viewer', 'operator', 'admin'] },
    isLoginRequired: { type: 'boolean', description: 'False if the admin API has no tokens.' },
  }),
  Login: { ...object({ token: text }), additionalProperties: false },
  SessionClosed: object({ closed: { const: true } }),
  Upgraded: object({ pid: count, version: text, durationMs: count }),
  Drain: object({ draining: { const: true } }),
  Worker: object({
    id: count,
    pid: { type: ['integer', 'null'] },
    state: { enum: ['starting', 'idle', 'ready', 'restarting', 'stopped', 'draining'] },
    digest,
    inFlight: count,
    connections: count,
    restarts: count,
    rssBytes: count,
    loopLagMs: { type: 'number' },
    stateProblem: { type: ['string', 'null'] },
    uptimeMs: count,
    log: ref('LogIdentity'),
  }),
  Listener: object({
    address: text,
    host: text,
    port: count,
    engine: { enum: ['uws', 'node'] },
    tls: { type: 'boolean' },
    url: text,
  }),
  Rollout: object({
    at: time,
    result: { enum: ['applied', 'unchanged', 'rolled-back', 'invalid'] },
    digest,
    origin,
    actor: text,
    note: text,
    durationMs: count,
    mistakes: { ...listOf(text), description: 'The first errors of an invalid document.' },
    reasons: listOf(objection),
  }),
  Status: object({
    version: text,
    pid: count,
    startedAt: time,
    uptimeMs: count,
    digest,
    origin: { enum: [...origin.enum, null] },
    ready: { type: 'boolean' },
    reason: { type: ['string', 'null'] },
    draining: { type: 'boolean' },
    workers: listOf(ref('Worker')),
    listeners: listOf(ref('Listener')),
    admin: { anyOf: [object({ address: text, url: text }), { type: 'null' }] },
    cacheServer: {
      anyOf: [
        object({
          pid: { type: ['integer', 'null'] },
          state: { enum: ['starting', 'ready', 'restarting'] },
          host: text,
          port: count,
          tls: { type: 'boolean' },
          restarts: count,
          rssBytes: count,
        }),
        { type: 'null' },
      ],
    },
    control: {
      description: 'Connection to the controller, or null if the gateway has none.',
      anyOf: [
        object({
          group: text,
          name: text,
          member: text,
          url: text,
          connected: { type: 'boolean' },
          since: time,
          problem: { type: ['string', 'null'] },
          lastContactMs: { type: ['integer', 'null'] },
          deploy: count,
          digest,
          drift: {
            type: ['string', 'null'],
            description: 'Reason why something else than the bundle is served.',
          },
        }),
        { type: 'null' },
      ],
    },
    lastRollout: { anyOf: [ref('Rollout'), { type: 'null' }] },
    plugins: listOf(
      object({ name: text, version: text, contract: text, entry: text, policies: listOf(text) }),
    ),
    warnings: listOf(text),
  }),
}
