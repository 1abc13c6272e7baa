import { Type } from '@sinclair/typebox'
import { duration, integer, object, oneOf, ratio, size, text } from './build.js'

/** Maximum number of canary matches, and of compared headers. */
const MAX_NAMES = 20

/** Schema of `sticky` of an upstream. */
export const stickySchema = object(
  {
    cookie: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
      default: 'gw-target',
      description: 'Name of the cookie.',
      expects: 'a name of up to 128 letters, digits, dots, hyphens and underscores',
    }),
    secret: Type.String({
      secret: true,
      minLength: 16,
      maxLength: 4096,
      description:
        'Secret that signs the cookie, at least 16 characters. Use a reference such as ${env:STICKY_KEY}. Changing it ends all sessions.',
    }),
    ttl: Type.Optional(
      duration('1s', '365d', { description: 'Lifetime of the cookie. Absent: until the browser is closed.' }),
    ),
    path: Type.Optional(text('path', { description: 'Path attribute of the cookie. Absent: /.' })),
    httpOnly: Type.Boolean({
      default: true,
      description: 'Sets HttpOnly, which hides the cookie from scripts.',
    }),
    secure: Type.Boolean({
      default: true,
      description: 'Sets Secure, so the cookie is only sent over HTTPS.',
    }),
    sameSite: oneOf(['strict', 'lax', 'none'], {
      default: 'lax',
      description: 'SameSite attribute of the cookie. `none` requires `secure`.',
    }),
  },
  {
    description:
      'Sticky sessions: a signed cookie sends all requests of a client to the same target, without revealing its address. If that target is unavailable, another one is chosen and the cookie is set again.',
  },
)

const abort = object(
  {
    errors: Type.Optional(
      ratio({
        description:
          'Stops the canary if its rate of failures and 5xx exceeds that of the primaries by more than this.',
      }),
    ),
    slower: Type.Optional(
      duration('1ms', '10m', {
        description:
          'Stops the canary if its mean time to the response head exceeds that of the primaries by more than this.',
      }),
    ),
    window: duration('1s', '1h', { default: '1m', description: 'Time window over which both are measured.' }),
    minRequests: integer(1, 1_000_000, {
      default: 50,
      description:
        'Minimum number of responses in the window, from the canary and from the primaries, before they are compared.',
    }),
    cooldown: duration('1s', '24h', {
      default: '5m',
      description: 'Time until the canary receives requests again.',
    }),
  },
  {
    choice: { keys: ['errors', 'slower'], min: 1, max: 2 },
    description:
      'Stops the canary for some time if it performs worse than the primaries. Each worker decides by its own measurements.',
  },
)

/** Schema of `canary` of an upstream. */
export const canarySchema = object(
  {
    percent: ratio({ default: '0%', description: 'Share of keys that are sent to the canary.' }),
    key: text('hash-key', {
      default: 'ip',
      description:
        'Key that decides whether a request goes to the canary: `header:NAME`, `cookie:NAME`, `claim:NAME`, `consumer` (its id) or `ip`. Requests without a value use the client address.',
    }),
    match: Type.Array(text('request-match'), {
      default: [],
      maxItems: MAX_NAMES,
      description: 'Requests that always go to the canary, such as `header:x-canary` or `cookie:canary=1`.',
    }),
    abort: Type.Optional(abort),
  },
  { description: 'Selects the requests that go to targets with `role: canary`.' },
)

const compare = object(
  {
    headers: Type.Array(text('field-name'), {
      default: [],
      maxItems: MAX_NAMES,
      description: 'Response headers to compare, in addition to the status.',
    }),
    json: Type.Boolean({ default: true, description: 'Compares JSON bodies.' }),
    maxBodyBytes: size('0b', '1mb', {
      default: '64kb',
      description: 'Maximum body size. Larger bodies are not compared.',
    }),
  },
  {
    deprecatedKeys: { maxBody: 'maxBodyBytes' },
    description:
      'Compares mirrored responses with the responses that clients received. Differences are logged as the event `mirror_difference` in the operational log, without values.',
  },
)

/** Schema of `mirror` of an upstream. */
export const mirrorSchema = object(
  {
    percent: ratio({ default: '100%', description: 'Share of requests that are mirrored.' }),
    concurrency: integer(1, 10_000, {
      default: 32,
      description:
        'Maximum number of mirrored requests in flight per worker. Requests above it are not mirrored.',
    }),
    maxBodyBytes: size('0b', '1mb', {
      default: '64kb',
      description:
        'Maximum body size. Requests with larger or streamed bodies (see limits.bodyBufferBytes of the listener) are not mirrored.',
    }),
    timeout: duration('1ms', '10m', { default: '10s', description: 'Maximum time for a mirrored request.' }),
    compare: Type.Optional(compare),
  },
  {
    deprecatedKeys: { maxBody: 'maxBodyBytes' },
    description: 'Copies requests to targets with `role: mirror` and discards their responses.',
  },
)
