import type { Static } from '@sinclair/typebox'
import { optionalFlag, optionalOneOf, optionalString, policyOptions } from '../../shared/options.js'

/** The configuration of `request-id`. */
export const requestIdSchema = policyOptions(
  {
    header: optionalString('The header field of the id.', {
      default: 'x-correlation-id',
      minLength: 1,
      maxLength: 256,
    }),
    format: optionalOneOf(
      ['request-id', 'uuid-v4', 'uuid-v7', 'ulid'],
      'What a new id is: the one of `x-request-id`, so that the traffic log finds it; a random UUID; a UUID or a ULID that begins with the time.',
      'request-id',
    ),
    trustIncoming: optionalFlag(
      false,
      'Whether an id that the caller sends is kept: up to 128 letters, digits and `-._:`, in one line. Anything else is replaced.',
    ),
    echo: optionalFlag(
      true,
      'Whether the response has it, in place of what the upstream says under this name.',
    ),
  },
  [
    'The gateway has an id for every request already: `x-request-id`, which the upstream and the client get and the traffic log keeps; `trustedProxies` of the listener may choose it. This policy is for another name or another form beside it, and refuses `x-request-id` itself.',
    'Policies after it, conditions and templates read the id as the header field of the request. Put it before a policy that refuses requests, so that the refusal has it too.',
  ],
)

/** The configuration of `request-id`, derived from its schema. */
export type RequestIdConfig = Static<typeof requestIdSchema>
