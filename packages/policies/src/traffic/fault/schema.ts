import { Type } from '@sinclair/typebox'
import { type Configured, RATIO_PATTERN } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const percent = Type.Optional(
  Type.String({
    default: '100%',
    pattern: RATIO_PATTERN,
    description: 'Share of the requests that pass the guard and the condition.',
  }),
)

const PERCENTAGE = { deprecatedKeys: { percentage: 'percent' } }

/** Schema of the configuration of `fault`. */
export const faultSchema = field.policyOptions(
  {
    guard: field.optionalClosed(
      'Injects faults only into requests with this header field, which is not sent upstream.',
      {
        header: field.string('Name of the header field.', { minLength: 1, maxLength: 256 }),
        value: field.string(
          'Secret of at least 16 characters, preferably as a reference: `${env:FAULT_KEY}`.',
          { secret: true, minLength: 1, maxLength: 1024 },
        ),
      },
    ),
    delay: field.optionalClosed(
      'Delays requests.',
      {
        percent,
        duration: field.string('Length of the delay, up to 20s.', {
          pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$',
        }),
      },
      PERCENTAGE,
    ),
    abort: Type.Optional(
      field.closed(
        'Refuses requests, after the delay if there is one.',
        { percent, status: field.integer('Status code.', { minimum: 400, maximum: 599 }) },
        PERCENTAGE,
      ),
    ),
    maxDelayed: field.optionalInteger(
      'Maximum number of delayed requests at once, per worker. Further requests are not delayed.',
      { minimum: 1, maximum: 10_000, default: 100 },
    ),
  },
  [
    'For testing how callers handle slow or failing APIs. The policy needs a guard or a `when` that is not always true, so that a forgotten fault does not affect every caller. Without one the document is rejected.',
    'Injected faults can be recognised. Refusals have the code `GW_FAULT_INJECTED` in the body, in `x-gw-error`, in the traffic log and in error metrics, whatever their status. Responses have the field `x-gw-fault` with `delay` or `abort`. The full traffic log has the variable `fault`. The gateway log has the events `fault_enabled` and `fault_injected`.',
  ],
)

/** Configuration of `fault`, derived from its schema. */
export type FaultConfig = Configured<typeof faultSchema>
