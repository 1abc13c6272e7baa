import { type Static, type TSchema, Type } from '@sluice/core'
import { Ajv } from 'ajv'
import { ManifestSchema } from '../manifest/manifest.js'

/** Version of this protocol. A controller refuses members of another version. */
export const PROTOCOL_VERSION = 1

/** Path of the controller's WebSocket for gateways. They authenticate with a bearer token or a client certificate. */
export const MEMBERS_PATH = '/v1/members'

/** Close code of a gateway that shuts down gracefully, from the range for private use (RFC 6455 section 7.4.2). */
export const LEAVING_CODE = 4001

/** Maximum size of a message in bytes. The largest one contains a manifest. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** Maximum size of a gateway's message in bytes. The largest one requests 20,000 chunks. */
export const MAX_MEMBER_MESSAGE_BYTES = 1_500_000

/** Names of groups, as of other things in documents. */
export const GROUP_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'

const digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const name = Type.String({ minLength: 1, maxLength: 200 })
const reason = Type.String({ maxLength: 2000 })
const reasons = Type.Array(reason, { maxItems: 20 })
const count = Type.Number({ minimum: 0 })
/** Number of the entry that started the deploy in the controller's log. Later deploys have higher numbers. */
const deploy = Type.Integer({ minimum: 1 })

function message<T extends Record<string, TSchema>>(fields: T) {
  return Type.Object(fields, { additionalProperties: false })
}

/** Figures of a gateway, measured since its previous report. */
const figures = message({
  requestsPerSecond: count,
  /** Responses with status 5xx per second. */
  errorsPerSecond: count,
  /** 99th percentile of the response time in milliseconds, or null if there was no request. */
  p99Ms: Type.Union([count, Type.Null()]),
})

const buckets = Type.Array(count, { maxItems: 100 })
/** Counters of a gateway since its start. Differences between two reports are the traffic between them. */
const totals = message({
  responses: count,
  /** Responses with status 5xx. */
  errors: count,
  /** Upper bounds of the latency buckets in seconds. The last bucket has none. */
  bounds: buckets,
  /** Number of responses per latency bucket, not cumulative. */
  buckets,
})

/** State of a gateway. */
const state = {
  /** Manifest digest of the active bundle, or null if the gateway serves none. */
  digest: Type.Union([digest, Type.Null()]),
  /** Deploy of the active bundle; 0 if there is none. */
  deploy: Type.Integer({ minimum: 0 }),
  isReady: Type.Boolean(),
  /** Reason why the gateway is not ready, or null. */
  reason: Type.Union([reason, Type.Null()]),
  workers: Type.Integer({ minimum: 0 }),
  /** Time on the gateway's clock, ISO 8601. The controller reports clocks that differ from its own. */
  at: Type.String({ maxLength: 40 }),
  /** Reason why the gateway serves something else than its bundle, such as a local deploy. Absent if it does not. */
  drift: Type.Optional(reason),
  figures: Type.Union([figures, Type.Null()]),
  /** Absent: the gateway has an older version, or its counters are from before the activation of the bundle. */
  totals: Type.Optional(totals),
}

const memberMessage = Type.Union([
  /** First message of a connection. */
  message({
    type: Type.Literal('hello'),
    protocol: Type.Integer(),
    /** Id that the gateway stores on its disk. */
    member: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
    /** Name for people: the host name by default. */
    name,
    group: name,
    version: name,
    /** URL of the gateway's admin API, if it is not on loopback. */
    adminUrl: Type.Union([Type.String({ pattern: '^https?://[!-~]+$', maxLength: 500 }), Type.Null()]),
    ...state,
  }),
  /** Regular report, also sent after each change. */
  message({ type: Type.Literal('status'), ...state }),
  /** Requests chunks that the gateway does not have. */
  message({ type: Type.Literal('want'), deploy, chunks: Type.Array(digest, { maxItems: 20_000 }) }),
  /** Answers `prepare`. */
  message({
    type: Type.Literal('vote'),
    deploy,
    vote: Type.Union([Type.Literal('prepared'), Type.Literal('unchanged'), Type.Literal('refused')]),
    reasons,
  }),
  /**
   * Answers `activate`, `discard` and `serve`. `expired`: the gateway no longer holds the prepared bundle.
   */
  message({
    type: Type.Literal('outcome'),
    deploy,
    outcome: Type.Union([
      Type.Literal('active'),
      Type.Literal('discarded'),
      Type.Literal('expired'),
      Type.Literal('refused'),
    ]),
    reasons,
  }),
])

const controllerMessage = Type.Union([
  /** Answers `hello`. */
  message({
    type: Type.Literal('welcome'),
    protocol: Type.Integer(),
    /** Id of the controller's store. Numbers of deploys are comparable only within one store. */
    store: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
    /** Interval of `status` messages in milliseconds. */
    reportMs: Type.Integer({ minimum: 100, maximum: 600_000 }),
  }),
  /** Prepares a bundle and holds it for `holdMs`. Followed by `activate` or `discard`. */
  message({
    type: Type.Literal('prepare'),
    deploy,
    manifest: ManifestSchema,
    holdMs: Type.Integer({ minimum: 1000, maximum: 300_000 }),
    note: reason,
    actor: name,
  }),
  message({ type: Type.Literal('activate'), deploy }),
  message({ type: Type.Literal('discard'), deploy }),
  /**
   * Prepares and activates a bundle without waiting for other gateways. Gateways refuse a lower number than that of
   * their active bundle, so the return to an earlier bundle after a canary needs a number of its own.
   */
  message({ type: Type.Literal('serve'), deploy, manifest: ManifestSchema, note: reason, actor: name }),
  /** Answers `want` for chunks that the controller does not have. The others follow as binary messages. */
  message({ type: Type.Literal('missing'), deploy, chunks: Type.Array(digest, { maxItems: 20_000 }) }),
])

/** A message from a gateway. */
export type MemberMessage = Static<typeof memberMessage>
/** A message from a controller. Binary messages each contain one chunk. */
export type ControllerMessage = Static<typeof controllerMessage>
/** State of a gateway as it reports it. */
export type MemberState = Omit<Extract<MemberMessage, { readonly type: 'status' }>, 'type'>
/** Figures of a gateway since its previous report. */
export type MemberFigures = Static<typeof figures>
/** Counters of a gateway since its start. */
export type MemberTotals = Static<typeof totals>

const ajv = new Ajv({ strict: true, allErrors: false })
const isMemberMessage = ajv.compile<MemberMessage>(memberMessage)
const isControllerMessage = ajv.compile<ControllerMessage>(controllerMessage)

/** Parses a message from a gateway. Returns null if it is invalid. */
export function parseMemberMessage(text: string): MemberMessage | null {
  const value = parseJson(text)
  return isMemberMessage(value) ? value : null
}

/** Parses a message from a controller. Returns null if it is invalid. */
export function parseControllerMessage(text: string): ControllerMessage | null {
  const value = parseJson(text)
  return isControllerMessage(value) ? value : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
