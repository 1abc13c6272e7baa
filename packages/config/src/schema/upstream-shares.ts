import { Type } from '@sinclair/typebox'
import { duration, integer, object, oneOf, ratio, size, text } from './build.js'

/** Of the cookies and headers that choose the canary, and those that are compared. */
const MAX_NAMES = 20

/** Sessions that stay with their target. */
export const stickySchema = object(
  {
    cookie: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
      default: 'gw-target',
      description: 'The name of the cookie.',
      expects: 'a name of up to 128 letters, digits, dots, hyphens and underscores',
    }),
    secret: Type.String({
      secret: true,
      minLength: 16,
      maxLength: 4096,
      description:
        'Signs the cookie; at least 16 characters. Write a reference such as ${env:STICKY_KEY}. Another one ends all sessions.',
    }),
    ttl: Type.Optional(
      duration(
        { min: '1s', max: '365d' },
        { description: 'How long a client keeps the cookie; absent: until it is closed.' },
      ),
    ),
    path: Type.Optional(text('path', { description: 'The path of the cookie; absent: /.' })),
    httpOnly: Type.Boolean({ default: true, description: 'Scripts of the page cannot read it.' }),
    secure: Type.Boolean({ default: true, description: 'It is sent over HTTPS only.' }),
    sameSite: oneOf(['strict', 'lax', 'none'], {
      default: 'lax',
      description: 'Whether requests from other sites bring it; `none` needs `secure`.',
    }),
  },
  {
    description:
      'Requests of a client go to the target of its first, by a signed cookie that does not show the address. While that target is not available another one is chosen, and the cookie is set again.',
  },
)

const abort = object(
  {
    errors: Type.Optional(ratio({ description: 'Share of failures and 5xx above that of the primaries.' })),
    slower: Type.Optional(
      duration(
        { min: '1ms', max: '10m' },
        { description: 'Mean time to the response head above that of the primaries.' },
      ),
    ),
    window: duration({ min: '1s', max: '1h' }, { default: '1m', description: 'Time over which both count.' }),
    minRequests: integer(1, 1_000_000, {
      default: 50,
      description: 'With fewer answers of the canary or of the primaries in the window nothing is compared.',
    }),
    cooldown: duration(
      { min: '1s', max: '24h' },
      { default: '5m', description: 'Time until the canary is tried again.' },
    ),
  },
  {
    choice: { keys: ['errors', 'slower'], min: 1, max: 2 },
    description:
      'Ends the canary for a while when it does worse than the primaries, in each worker by what that has seen.',
  },
)

/** How many requests, and whose, go to the targets with `role: canary`. */
export const canarySchema = object(
  {
    percent: ratio({ default: '0%', description: 'Share of the keys that go to the canary.' }),
    key: text('hash-key', {
      default: 'ip',
      description:
        'Whose requests stay on one side: `header:NAME`, `cookie:NAME`, `claim:NAME`, `consumer` (its id) or `ip`; without a value the address counts.',
    }),
    match: Type.Array(text('request-match'), {
      default: [],
      maxItems: MAX_NAMES,
      description: 'Requests that always go to the canary: `header:x-canary`, `cookie:canary=1`.',
    }),
    abort: Type.Optional(abort),
  },
  { description: 'Which requests go to the targets with role: canary.' },
)

const compare = object(
  {
    headers: Type.Array(text('field-name'), {
      default: [],
      maxItems: MAX_NAMES,
      description: 'Response headers that are compared, beside the status.',
    }),
    json: Type.Boolean({ default: true, description: 'Whether JSON bodies are compared.' }),
    maxBody: size(
      { min: '0b', max: '1mb' },
      { default: '64kb', description: 'Larger bodies are not compared.' },
    ),
  },
  {
    description:
      'Compares the answers of the mirror with those that clients got; a difference is the event `mirror_difference` in the operational log, without values.',
  },
)

/** What the targets with `role: mirror` get. */
export const mirrorSchema = object(
  {
    percent: ratio({ default: '100%', description: 'Share of the requests that are mirrored.' }),
    concurrency: integer(1, 10_000, {
      default: 32,
      description: 'Mirrored requests under way, per worker; one more is left out.',
    }),
    maxBody: size(
      { min: '0b', max: '1mb' },
      {
        default: '64kb',
        description:
          'Requests with a larger body are left out, and those that are streamed (limits.bodyBuffer of the listener).',
      },
    ),
    timeout: duration(
      { min: '1ms', max: '10m' },
      { default: '10s', description: 'Longest time for a mirrored request.' },
    ),
    compare: Type.Optional(compare),
  },
  { description: 'How requests are copied to the targets with role: mirror, whose answers nobody gets.' },
)
