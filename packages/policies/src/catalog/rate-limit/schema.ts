import { Type } from '@sinclair/typebox'
import { RATE_PATTERN } from '@sluice/core'
import { LIMIT_PARAGRAPHS, limitOptions } from '../../shared/limits/limit-options.js'
import {
  closed,
  integer,
  optionalInteger,
  optionalList,
  optionalOneOf,
  policyOptions,
  string,
} from '../../shared/options.js'

const rate = string('How many in which time: `100/s`, `1000/m`, `5000/h`, `10000/d`.', {
  pattern: RATE_PATTERN,
})
const MAX_BURST = 1_000_000_000

/** The configuration of `rate-limit`. */
export const rateLimitSchema = policyOptions(
  {
    limit: Type.Optional(rate),
    limits: optionalList(
      Type.Union(
        [
          rate,
          closed('A limit with a burst of its own.', {
            limit: rate,
            burst: integer('The most at once.', { minimum: 1, maximum: MAX_BURST }),
          }),
        ],
        { description: 'A limit, or one with a burst of its own.' },
      ),
      'Several limits, all of which have to allow a request; one that is refused takes from none of them.',
      { minItems: 1, maxItems: 10 },
    ),
    algorithm: optionalOneOf(
      ['gcra', 'fixed', 'sliding'],
      '`gcra`: tokens come evenly and gather up to `burst`. `fixed`: so many in each second, minute, hour or day of the clock (UTC). `sliding`: the same, where a part of the window before counts as long as it lies within the time, as if its requests had come evenly.',
      'gcra',
    ),
    burst: optionalInteger(
      'The most at once, of `gcra`. Default: the limit itself; of a limit a second a tenth, but at least 10 where the limit is as much, so that it is even.',
      { minimum: 1, maximum: MAX_BURST },
    ),
    ...limitOptions,
  },
  ['A request over a limit is refused with 429 `GW_RATE_LIMITED` and `Retry-After`.', ...LIMIT_PARAGRAPHS],
)
