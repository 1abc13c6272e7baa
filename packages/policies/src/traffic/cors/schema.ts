import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'

function names(description: string, fallback?: readonly string[]) {
  const name = field.string('A name, or `*`.', { minLength: 1, maxLength: 100 })
  const defaults = fallback === undefined ? {} : { default: [...fallback] }
  return field.optionalList(name, description, { maxItems: 100, ...defaults })
}

/** Schema of the configuration of `cors`. */
export const corsSchema = field.policyOptions(
  {
    origins: field.list(
      field.string('An origin.', { minLength: 1, maxLength: 4096 }),
      'Origins whose pages may read responses. `https://app.example.com` is one origin. In `https://*.example.com` the star stands for one or more labels. `~regex` matches whole origins, `null` stands for sandboxed pages and local files, `*` for every origin.',
      { minItems: 1, maxItems: 100 },
    ),
    methods: names('Methods that pages may use. `*` allows the requested method.', [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
    ]),
    headers: names('Request header fields that pages may set. `*` allows the requested fields.', [
      'authorization',
      'content-type',
    ]),
    exposedHeaders: names(
      'Response header fields that pages may read in addition to the CORS-safelisted ones. `*` exposes all fields.',
    ),
    credentials: field.optionalFlag(
      false,
      'Lets pages send credentials such as cookies, and read the responses. Cannot be combined with the origins `*` and `null`, an expression that matches every origin, or `exposedHeaders: ["*"]`.',
    ),
    maxAge: field.optionalDuration(
      'Time for which browsers may cache the response to a preflight. `0s` disables caching. The maximum is 2 h in Chromium and 24 h in Firefox.',
      '1h',
    ),
    privateNetwork: field.optionalFlag(
      false,
      'Lets pages on the public internet call this gateway in a private network (`Access-Control-Allow-Private-Network`).',
    ),
  },
  [
    'Always runs first in the chain of its routes, wherever it is listed. It responds to preflights before authentication, because browsers send preflights without credentials. It does not support `when`.',
    'A preflight is an `OPTIONS` request with `Origin` and `Access-Control-Request-Method`. It is routed like the request that it announces, so the `methods` of a route need not list `OPTIONS`. Other `OPTIONS` requests are routed normally.',
    'A preflight from an origin that is not allowed gets 403 `GW_CORS_DENIED`. Other requests from such an origin pass, but their responses have no CORS fields, so the browser hides them from the page. CORS is not access control: it only tells browsers what pages may read, and other clients can send any `Origin`.',
    "Replaces the CORS fields of the upstream. Error responses of the upstream and of other policies on the route also get CORS fields, so that pages can read them. Unless every origin is allowed, the request's origin is returned and every response has `Vary: Origin`, so that caches keep responses for different origins apart.",
  ],
)

/** Configuration of `cors`, derived from its schema. */
export type CorsConfig = Configured<typeof corsSchema>
