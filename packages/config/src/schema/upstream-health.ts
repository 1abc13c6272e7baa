import { Type } from '@sinclair/typebox'
import { duration, integer, mapOf, object, ratio, text } from './build.js'

const windowKeys = {
  window: duration('1s', '10m', {
    default: '10s',
    description: 'Time window over which attempts and failures are counted.',
  }),
  minRequests: integer(1, 1_000_000, {
    default: 20,
    description: 'Minimum number of attempts in the window before the ratios are evaluated.',
  }),
}

const slowAfter = (description: string) => Type.Optional(duration('1ms', '1h', { description }))

/** Schema of `breaker` of an upstream. */
export const breakerSchema = object(
  {
    ...windowKeys,
    failureRatio: ratio({
      default: '50%',
      description:
        'Share of failures that opens the breaker. Failures are attempts without a response and 5xx responses.',
    }),
    slowAfter: slowAfter('Time to the response head from which an attempt counts as slow. Absent: never.'),
    slowRatio: ratio({ default: '50%', description: 'Share of slow attempts that opens the breaker.' }),
    openFor: duration('100ms', '1h', {
      default: '5s',
      description: 'Time until the first probes. It doubles after each failed probe.',
    }),
    maxOpenFor: duration('100ms', '24h', {
      default: '1m',
      description: 'Maximum value that `openFor` grows to.',
    }),
    probes: integer(1, 1000, {
      default: 1,
      description: 'Number of probe requests. The breaker closes if all of them succeed.',
    }),
  },
  {
    description:
      'Circuit breaker: stops sending requests to a target that fails or is slow. Per worker and target.',
  },
)

/** Schema of `outlier` of an upstream. */
export const outlierSchema = object(
  {
    consecutiveFailures: integer(1, 10_000, {
      default: 5,
      description:
        'Number of consecutive failures that eject a target. After its return, a single failure ejects it again.',
    }),
    ...windowKeys,
    failureRatio: ratio({ default: '50%', description: 'Share of failures that ejects a target.' }),
    slowAfter: slowAfter('Time to the response head from which an attempt counts as failed. Absent: never.'),
    ejectFor: duration('100ms', '1h', {
      default: '30s',
      description: 'Time that a target is ejected. It doubles with each consecutive ejection.',
    }),
    maxEjectFor: duration('100ms', '24h', {
      default: '5m',
      description: 'Maximum value that `ejectFor` grows to.',
    }),
    maxEjected: ratio({
      default: '50%',
      description: 'Maximum share of targets that are ejected at the same time, rounded down.',
    }),
  },
  { description: 'Outlier detection: ejects failing targets for some time. Per worker.' },
)

const statusRange = Type.Union([
  integer(100, 599, { description: 'A status.' }),
  Type.String({
    pattern: '^[1-5][0-9]{2}-[1-5][0-9]{2}$',
    expects: 'a range of statuses such as 200-299',
    description: 'A range of statuses, such as `200-299`.',
  }),
])

/** Schema of `health` of an upstream. */
export const healthSchema = object(
  {
    path: text('path', { description: 'Path that is requested with GET.' }),
    interval: duration('100ms', '1h', { default: '5s', description: 'Time between checks.' }),
    jitter: ratio({ default: '10%', description: 'Random variation of the interval.' }),
    timeout: duration('10ms', '1m', {
      default: '1s',
      description: 'Maximum time for the complete response.',
    }),
    unhealthyAfter: integer(1, 100, {
      default: 3,
      description: 'Number of consecutive failures after which a target is unhealthy.',
    }),
    healthyAfter: integer(1, 100, {
      default: 2,
      description: 'Number of consecutive successes after which it is healthy again.',
    }),
    statuses: Type.Array(statusRange, {
      default: ['200-299'],
      minItems: 1,
      maxItems: 50,
      description: 'Statuses that count as healthy: `200` or `200-299`.',
    }),
    body: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'String that the first 64 KB of the body must contain.',
      }),
    ),
    bodyPattern: Type.Optional(
      text('regex', {
        description: 'Regular expression (RE2) that must match in the first 64 KB of the body.',
      }),
    ),
    host: Type.Optional(text('field-value', { description: "Host header. Absent: the target's host." })),
    headers: mapOf(text('field-value'), {
      default: {},
      maxProperties: 50,
      propertyNames: text('sent-field-name'),
      description: 'Additional request headers.',
    }),
  },
  { description: 'Active health checks. They run once per gateway, not per worker.' },
)

/** Schema of `panicMode` of an upstream. */
export const panicModeSchema = Type.Boolean({
  default: false,
  description:
    'While no target is available, sends requests to unhealthy or ejected targets, but not to targets that are drained or whose breaker is open. Otherwise such requests are answered with 503 at once.',
})
