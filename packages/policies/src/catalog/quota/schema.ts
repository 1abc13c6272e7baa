import { CALENDAR_PERIODS } from '@sluice/core'
import { LIMIT_PARAGRAPHS, limitOptions } from '../../shared/limits/limit-options.js'
import { integer, oneOf, optionalText, policyOptions } from '../../shared/options.js'

/** The configuration of `quota`. */
export const quotaSchema = policyOptions(
  {
    limit: integer('How many in a period.', { minimum: 1, maximum: 1_000_000_000_000 }),
    per: oneOf(
      CALENDAR_PERIODS,
      'The period, of the calendar: it begins with the hour, at midnight, on Monday or on the first.',
    ),
    timeZone: optionalText(
      64,
      'Whose clocks are meant, an IANA name such as `Europe/Istanbul`; default `UTC`.',
    ),
    ...limitOptions,
  },
  [
    'A request over the quota is refused with 429 `GW_QUOTA_EXCEEDED` and `Retry-After`, which says when the period ends.',
    'Counts survive restarts: without `state` the supervisor writes them to the data directory once a second and when it ends; what was counted in the last second before it is killed can be lost.',
    ...LIMIT_PARAGRAPHS,
  ],
)
