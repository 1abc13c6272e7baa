import type { Static } from '@sinclair/typebox'
import {
  optionalDuration,
  optionalFile,
  optionalList,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

/** What callers read unless the document says otherwise. */
export const DEFAULT_MESSAGE = 'This service is being maintained; please try again later.'

/** The configuration of `maintenance`. */
export const maintenanceSchema = policyOptions(
  {
    message: optionalString('What callers read, as plain text.', {
      default: DEFAULT_MESSAGE,
      minLength: 1,
      maxLength: 2000,
    }),
    retryAfter: optionalDuration('When to try again, for `Retry-After`.', '5m'),
    htmlFile: optionalFile('A page of your own for browsers, sent as it is.'),
    allow: optionalList(
      string('An address or a range, as in `ip-filter`.', { minLength: 1, maxLength: 100 }),
      'Callers who are let through, by their address after trusted proxies: those who try whether it works again.',
      { minItems: 1, maxItems: 1000 },
    ),
  },
  [
    'Requests get 503 `GW_MAINTENANCE` with `Retry-After`, and `Cache-Control: no-store`. Callers that ask for HTML (`Accept` names `text/html`) get a page, all others a problem document, SOAP callers a fault.',
    'Who is let through can also be said by `when`. Switch it on and off with `enabled` of the policy; shared policies and policy groups do that for many routes at once.',
  ],
)

/** The configuration of `maintenance`, derived from its schema. */
export type MaintenanceConfig = Static<typeof maintenanceSchema>
