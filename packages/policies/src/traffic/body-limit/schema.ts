import { SIZE_PATTERN } from '@sluice/core'
import { optionalFlag, optionalSize, policyOptions, string } from '../../shared/options/options.js'

/** Schema of the configuration of `body-limit`. */
export const bodyLimitSchema = policyOptions(
  {
    maxBytes: string('Maximum size of a request body, such as `512kb` or `1mb`. Units are powers of 1024.', {
      pattern: SIZE_PATTERN,
    }),
    minBytes: optionalSize('Minimum declared size of a request body.'),
    raise: optionalFlag(
      false,
      'Allows `maxBytes` to exceed the limit of the listener. Without it the smaller limit applies.',
    ),
  },
  [
    'A body declared larger than `maxBytes` is refused at once with 413 `GW_BODY_TOO_LARGE`. A chunked body is counted while it streams and refused at the limit.',
    '`minBytes` checks only the declared length and responds with 400 `GW_BODY_TOO_SMALL`. A request without a body counts as 0 bytes, and a chunked body always passes. Use `when` to limit the check to methods that have a body.',
  ],
  { deprecatedKeys: { max: 'maxBytes', min: 'minBytes' } },
)
