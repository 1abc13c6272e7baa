import { Type } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'
import { textSource } from '../../shared/options/text-source.js'

/** Schema of the configuration of `maintenance`. */
export const maintenanceSchema = field.policyOptions(
  {
    message: field.optionalString('Message for callers, as plain text.', {
      default: 'This service is down for maintenance; please try again later.',
      minLength: 1,
      maxLength: 2000,
    }),
    retryAfter: field.optionalDuration('Time after which callers should try again, for `Retry-After`.', '5m'),
    html: Type.Optional(textSource('the page for browsers, sent unchanged')),
    allow: field.optionalList(
      field.string('An address or a range, as in `ip-filter`.', { minLength: 1, maxLength: 100 }),
      'Addresses that may still call, for example testers. The client address is determined after trusted proxies.',
      { minItems: 1, maxItems: 1000 },
    ),
  },
  [
    'Requests get 503 `GW_MAINTENANCE` with `Retry-After` and `Cache-Control: no-store`. Callers that ask for HTML (`text/html` in `Accept`) get a page, SOAP callers a fault, all others a problem document.',
    'Use `when` to exempt callers by other criteria. Switch the policy on and off with `enabled`. Shared policies and policy groups do that for many routes at once.',
  ],
  { deprecatedKeys: { htmlFile: 'html' } },
)
