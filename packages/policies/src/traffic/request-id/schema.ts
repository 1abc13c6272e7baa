import { optionalFlag, optionalOneOf, optionalString, policyOptions } from '../../shared/options/options.js'

/** Schema of the `request-id` configuration. */
export const requestIdSchema = policyOptions(
  {
    header: optionalString('Header field of the id.', {
      default: 'x-correlation-id',
      minLength: 1,
      maxLength: 256,
    }),
    format: optionalOneOf(
      ['request-id', 'uuid-v4', 'uuid-v7', 'ulid'],
      'Format of new ids. `request-id` uses the value of `x-request-id`, which the traffic log contains. `uuid-v4` is random. `uuid-v7` and `ulid` start with the time.',
      'request-id',
    ),
    trustIncoming: optionalFlag(
      false,
      'Keeps an id that the client sends: one line of up to 128 letters, digits and `-._:`. Anything else is replaced.',
    ),
    echo: optionalFlag(true, 'Adds the id to the response. Replaces a field of this name from the upstream.'),
  },
  [
    'Every request already has an id in `x-request-id`. The upstream and the client get it, and the traffic log records it. `trustedProxies` of the listener may set it. Use this policy to add an id with another name or format. It does not accept the name `x-request-id`.',
    'Policies after it, conditions and templates read the id as the header field of the request. Put it before policies that refuse requests, so that their refusals also have the id.',
  ],
)
