import { Type } from '@sinclair/typebox'
import { duration, integer, mapOf, object, oneOf, ratio, text } from './build.js'

const windowKeys = {
  window: duration(
    { min: '1s', max: '10m' },
    { default: '10s', description: 'Time over which attempts and failures are counted.' },
  ),
  minRequests: integer(1, 1_000_000, {
    default: 20,
    description: 'With fewer attempts in the window the ratios decide nothing.',
  }),
}

const slowAfter = (description: string) => Type.Optional(duration({ min: '1ms', max: '1h' }, { description }))

/** `breaker` of an upstream. */
export const breakerSchema = object(
  {
    ...windowKeys,
    failureRatio: ratio({
      default: '50%',
      description:
        'Share of failures that opens the breaker: attempts without an answer, and answers of 5xx.',
    }),
    slowAfter: slowAfter('An attempt whose response head takes longer is slow. Absent: none is.'),
    slowRatio: ratio({ default: '50%', description: 'Share of slow attempts that opens the breaker.' }),
    openFor: duration(
      { min: '100ms', max: '1h' },
      { default: '5s', description: 'Time until the first probes; twice as long after each failed probe.' },
    ),
    maxOpenFor: duration(
      { min: '100ms', max: '24h' },
      { default: '1m', description: 'The longest that `openFor` grows to.' },
    ),
    probes: integer(1, 1000, {
      default: 1,
      description:
        'Requests that are let through when the time is over; all must succeed to close the breaker.',
    }),
  },
  { description: 'Stops sending requests to a target that fails or is slow; per worker and target.' },
)

/** `outlier` of an upstream. */
export const outlierSchema = object(
  {
    consecutiveFailures: integer(1, 10_000, {
      default: 5,
      description: 'Failures in a row that eject a target; the first after its return ejects it again.',
    }),
    ...windowKeys,
    failureRatio: ratio({ default: '50%', description: 'Share of failures that ejects a target.' }),
    slowAfter: slowAfter(
      'An attempt whose response head takes longer counts as a failure. Absent: none does.',
    ),
    ejectFor: duration(
      { min: '100ms', max: '1h' },
      { default: '30s', description: 'Time out of the pool; twice as long each time in a row.' },
    ),
    maxEjectFor: duration(
      { min: '100ms', max: '24h' },
      { default: '5m', description: 'The longest that `ejectFor` grows to.' },
    ),
    maxEjected: ratio({
      default: '50%',
      description: 'Share of the targets that may be ejected at once, rounded down.',
    }),
  },
  { description: 'Takes targets that fail out of the pool for a while; per worker.' },
)

const statusRange = Type.Union([
  integer(100, 599, { description: 'A status.' }),
  Type.String({
    pattern: '^[1-5][0-9]{2}-[1-5][0-9]{2}$',
    expects: 'a range of statuses such as 200-299',
    description: 'A range of statuses, `200-299`.',
  }),
])

/** `health` of an upstream. */
export const healthSchema = object(
  {
    path: text('path', { description: 'The path that is asked with GET.' }),
    interval: duration({ min: '100ms', max: '1h' }, { default: '5s', description: 'Time between checks.' }),
    jitter: ratio({ default: '10%', description: 'How much each interval varies at random.' }),
    timeout: duration(
      { min: '10ms', max: '1m' },
      { default: '1s', description: 'Longest time until the whole answer is there.' },
    ),
    unhealthyAfter: integer(1, 100, { default: 3, description: 'Failures in a row that take a target out.' }),
    healthyAfter: integer(1, 100, { default: 2, description: 'Successes in a row that take it back.' }),
    statuses: Type.Array(statusRange, {
      default: ['200-299'],
      minItems: 1,
      maxItems: 50,
      description: 'Statuses of a healthy target, `200` or `200-299`.',
    }),
    body: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'A text in the first 64 KB of the body.' }),
    ),
    bodyPattern: Type.Optional(
      text('regex', { description: 'A regular expression (RE2) that matches somewhere in them.' }),
    ),
    host: Type.Optional(text('field-value', { description: "The Host field. Absent: the target's." })),
    headers: mapOf(text('field-value'), {
      default: {},
      maxProperties: 50,
      propertyNames: text('sent-field-name'),
      description: 'Header fields that are sent.',
    }),
  },
  { description: 'Asks each target whether it works; once per gateway, not per worker.' },
)

/** `whenAllDown` of an upstream. */
export const whenAllDownSchema = oneOf(['refuse', 'try-any'], {
  default: 'refuse',
  description:
    'While no target is available: `refuse` answers 503 at once; `try-any` sends to targets that are unhealthy or ejected all the same, but to none that is drained or whose breaker is open.',
})
