import { type Static, Type } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'
import { optionalInteger, optionalString, policyOptions } from '../../shared/options.js'

function size(description: string) {
  return optionalString(description, { pattern: SIZE_PATTERN })
}

/** What both sides of an exchange have. */
const message = {
  maxHeaders: optionalInteger('Most header lines.', { minimum: 1, maximum: 10_000 }),
  maxHeaderBytes: size('Most bytes of all header lines together, such as `8kb`.'),
  maxHeaderValueBytes: size('Most bytes of the value of one header line.'),
  minBodyBytes: size('Smallest body.'),
  maxBodyBytes: size('Largest body, such as `1mb`; units are powers of 1024.'),
}

const requestSizes = Type.Object(
  {
    ...message,
    maxUrlBytes: size('Most bytes of path and query together, as they were received.'),
    maxQueryParameters: optionalInteger('Most parameters in the query.', { minimum: 0, maximum: 10_000 }),
  },
  { description: 'Bounds of the request.', additionalProperties: false, minProperties: 1 },
)

const responseSizes = Type.Object(message, {
  description: 'Bounds of the response of the upstream.',
  additionalProperties: false,
  minProperties: 1,
})

/** The configuration of `size-limit`. */
export const sizeLimitSchema = policyOptions(
  { request: Type.Optional(requestSizes), response: Type.Optional(responseSizes) },
  [
    'Header lines are measured as they would be sent: name, value and four bytes between and after them. What earlier policies added or removed counts as they left it. The bounds of the listener (`limits`) hold before, so that this policy can only be stricter.',
    'A request over a bound is refused: 414 `GW_URL_TOO_LONG` for the URL and its parameters, 431 `GW_HEADERS_TOO_LARGE` for headers, 413 `GW_BODY_TOO_LARGE` and 400 `GW_BODY_TOO_SMALL` for the body. A body is refused at once when its announced length is over the bound, else at the bound while it streams. With `minBodyBytes` a body of unknown length is collected before it goes on, which no other bound needs.',
    'A response over a bound is replaced by 502 `GW_RESPONSE_INVALID`. A body of unknown length streams to the client until it reaches `maxBodyBytes` and is cut there: its status has been sent by then, so the client sees a body that ends too early. `minBodyBytes` of a response looks at the announced length only, and neither bound looks at responses without a body (to HEAD, 204, 304).',
    '`body-limit` is the smaller policy for request bodies alone, and the only one that can raise the limit of the listener.',
  ],
  { minProperties: 1 },
)

/** The configuration of `size-limit`, derived from its schema. */
export type SizeLimitConfig = Static<typeof sizeLimitSchema>
export type MessageSizes = NonNullable<SizeLimitConfig['response']>
export type RequestSizes = NonNullable<SizeLimitConfig['request']>
