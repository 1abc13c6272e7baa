import { type Static, Type } from '@sinclair/typebox'
import { SIZE_PATTERN } from '@sluice/core'
import { optionalInteger, optionalString, policyOptions } from '../../shared/options/options.js'

function size(description: string) {
  return optionalString(description, { pattern: SIZE_PATTERN })
}

/** Limits for both requests and responses. */
const message = {
  maxHeaders: optionalInteger('Maximum number of header lines.', { minimum: 1, maximum: 10_000 }),
  maxHeaderBytes: size('Maximum total size of all header lines, such as `8kb`.'),
  maxHeaderValueBytes: size('Maximum size of one header value.'),
  minBodyBytes: size('Minimum body size.'),
  maxBodyBytes: size('Maximum body size, such as `1mb`. Units are powers of 1024.'),
}

const requestSizes = Type.Object(
  {
    ...message,
    maxUrlBytes: size('Maximum total size of path and query, as received.'),
    maxQueryParameters: optionalInteger('Maximum number of query parameters.', {
      minimum: 0,
      maximum: 10_000,
    }),
  },
  { description: 'Limits for requests.', additionalProperties: false, minProperties: 1 },
)

const responseSizes = Type.Object(message, {
  description: 'Limits for upstream responses.',
  additionalProperties: false,
  minProperties: 1,
})

/** Schema of the `size-limit` configuration. */
export const sizeLimitSchema = policyOptions(
  { request: Type.Optional(requestSizes), response: Type.Optional(responseSizes) },
  [
    'Header lines are measured as sent: name, value and four bytes of separators. Changes by earlier policies count. The `limits` of the listener apply first, so this policy can only be stricter.',
    'A request over a limit is refused: 414 `GW_URL_TOO_LONG` for the URL and its parameters, 431 `GW_HEADERS_TOO_LARGE` for headers, 413 `GW_BODY_TOO_LARGE` and 400 `GW_BODY_TOO_SMALL` for the body. A body is refused at once if its announced length exceeds the limit, otherwise when the stream reaches it. With `minBodyBytes`, a body of unknown length is buffered before it is forwarded.',
    'A response over a limit is replaced with 502 `GW_RESPONSE_INVALID`. A body of unknown length streams to the client and is cut off at `maxBodyBytes`. Its status has been sent by then, so the client sees a truncated body. For responses, `minBodyBytes` checks only the announced length. Neither limit applies to responses without a body (to HEAD, 204, 304).',
    'To limit only request bodies, use `body-limit`. It is the only policy that can raise the limit of the listener.',
  ],
  { minProperties: 1 },
)

/** Configuration of `size-limit`, derived from its schema. */
export type SizeLimitConfig = Static<typeof sizeLimitSchema>
/** Limits under `response`. */
export type MessageSizes = NonNullable<SizeLimitConfig['response']>
/** Limits under `request`. */
export type RequestSizes = NonNullable<SizeLimitConfig['request']>
