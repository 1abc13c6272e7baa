import type { Static } from '@sinclair/typebox'
import {
  list,
  optionalDuration,
  optionalFlag,
  optionalList,
  policyOptions,
  string,
} from '../../shared/options.js'

/** What pages may use unless the document says otherwise. */
export const DEFAULT_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
/** What pages may set unless the document says otherwise. */
export const DEFAULT_HEADERS: readonly string[] = ['authorization', 'content-type']

function names(description: string, fallback?: readonly string[]) {
  const name = string('A name, or `*`.', { minLength: 1, maxLength: 100 })
  const defaults = fallback === undefined ? {} : { default: [...fallback] }
  return optionalList(name, description, { maxItems: 100, ...defaults })
}

/** The configuration of `cors`. */
export const corsSchema = policyOptions(
  {
    origins: list(
      string('An origin.', { minLength: 1, maxLength: 4096 }),
      'Whose pages may read responses: `https://app.example.com`, `https://*.example.com` for one or more labels in place of the star, `~regex` for origins that match it as a whole, `null` for sandboxed pages and files, `*` for everybody.',
      { minItems: 1, maxItems: 100 },
    ),
    methods: names('Methods that pages may use; `*` stands for whichever is asked for.', DEFAULT_METHODS),
    headers: names(
      'Request header fields that pages may set; `*` stands for those that are asked for.',
      DEFAULT_HEADERS,
    ),
    exposedHeaders: names(
      'Response header fields that pages may read, beside those that they always may; `*` stands for all of them.',
    ),
    credentials: optionalFlag(
      false,
      'Whether pages may send cookies and credentials, and read what comes back. Not with the origins `*` and `null`, with an expression that takes every origin, or with `exposedHeaders: ["*"]`.',
    ),
    maxAge: optionalDuration(
      'How long a browser may remember the answer to a preflight; `0s`: not at all. Chromium takes 2 h at most, Firefox 24 h.',
      '1h',
    ),
    privateNetwork: optionalFlag(
      false,
      'Whether pages of the public internet may call this gateway in a private network (`Access-Control-Allow-Private-Network`).',
    ),
  },
  [
    'It stands first in the chain of its routes, wherever the list has it, and answers preflights itself: before authentication, since browsers send preflights without credentials. It takes no `when`.',
    'A preflight is an `OPTIONS` request with `Origin` and `Access-Control-Request-Method`. It goes to the route that would get the request it asks for, so that `methods` of a route need not list `OPTIONS`. Other `OPTIONS` requests are routed like every request.',
    'A preflight of an origin that is not allowed gets 403 `GW_CORS_DENIED`. Other requests of such an origin pass, and their responses have no CORS fields: the browser keeps them from the page. CORS says what browsers show to pages and is no access control; other clients send what `Origin` they like.',
    'The CORS fields of the upstream are replaced. Refusals and failures of all other policies of the route, and of the upstream, carry the fields too, so that pages can read them. Unless every origin is allowed, the origin is repeated and every response has `Vary: Origin`, so that no cache gives the response for one origin to another.',
  ],
)

/** The configuration of `cors`, derived from its schema. */
export type CorsConfig = Static<typeof corsSchema>
