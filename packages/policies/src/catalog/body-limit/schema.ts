import { SIZE_PATTERN } from '@sluice/core'
import { optionalFlag, optionalSize, policyOptions, string } from '../../shared/options.js'

/** The configuration of `body-limit`. */
export const bodyLimitSchema = policyOptions(
  {
    max: string('Largest request body, such as `512kb` or `1mb`; units are powers of 1024.', {
      pattern: SIZE_PATTERN,
    }),
    min: optionalSize('Smallest request body that is announced.'),
    raise: optionalFlag(
      false,
      'Lets `max` be above the limit of the listener; without it the smaller of both holds.',
    ),
  },
  [
    'A body announced as larger is refused at once with 413 `GW_BODY_TOO_LARGE`; one without an announced length (chunked) is counted while it streams and refused at the limit.',
    '`min` looks at the announced length only, with 400 `GW_BODY_TOO_SMALL`: a request without a body counts as 0 bytes, a chunked one passes. Use `when` to keep it to the methods that carry a body.',
  ],
)
