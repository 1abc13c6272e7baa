import { type Static, Type } from '@sinclair/typebox'
import { RATIO_PATTERN } from '@sluice/core'
import {
  closed,
  integer,
  optionalClosed,
  optionalInteger,
  policyOptions,
  string,
} from '../../shared/options.js'

const percentage = Type.Optional(
  Type.String({
    default: '100%',
    pattern: RATIO_PATTERN,
    description: 'The share of the requests that pass the guard and the condition.',
  }),
)

/** The configuration of `fault`. */
export const faultSchema = policyOptions(
  {
    guard: optionalClosed('Only requests with this field meet the fault; it is not sent on.', {
      header: string('The name of the header field.', { minLength: 1, maxLength: 256 }),
      value: string('A secret of 16 characters or more, best a reference: `${env:FAULT_KEY}`.', {
        secret: true,
        minLength: 1,
        maxLength: 1024,
      }),
    }),
    delay: optionalClosed('Requests wait before they go on.', {
      percentage,
      duration: string('How long, up to 20s.', { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$' }),
    }),
    abort: Type.Optional(
      closed('Requests are refused, after the delay where there is one.', {
        percentage,
        status: integer('The status.', { minimum: 400, maximum: 599 }),
      }),
    ),
    maxDelayed: optionalInteger('Requests that wait at once, per worker; more are not delayed.', {
      minimum: 1,
      maximum: 10_000,
      default: 100,
    }),
  },
  [
    'For trying what callers do when an API is slow or fails. It needs a guard or a `when` (one that is always true counts as none), so that a forgotten fault does not meet every caller: a document with neither is refused.',
    'A fault says that it is one. Refusals have the code `GW_FAULT_INJECTED` (in the body, in `x-gw-error`, in the traffic log and the metrics of errors) whatever their status, responses the field `x-gw-fault` with `delay` or `abort`, the full traffic log the variable `fault`, and the log of the gateway the events `fault_enabled` and `fault_injected`.',
  ],
)

/** The configuration of `fault`, derived from its schema. */
export type FaultConfig = Static<typeof faultSchema>
