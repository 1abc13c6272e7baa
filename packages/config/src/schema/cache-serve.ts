import { type Static, Type } from '@sinclair/typebox'
import { duration, integer, mapOf, object, size, text } from './build.js'
import { certificate } from './listener.js'
import { stateSchema } from './state.js'

const timeToLive = ['1ms', '365d'] as const
const memory = ['8mb', '64gb'] as const

const space = object(
  {
    ttl: Type.Optional(
      duration(...timeToLive, {
        description: 'Default lifetime of values in this space. Absent: `ttl` of the server.',
      }),
    ),
    maxBytes: Type.Optional(
      size(...memory, {
        description: 'Memory reserved for this space, so that other spaces cannot evict its values.',
      }),
    ),
  },
  { deprecatedKeys: { max: 'maxBytes' } },
)

const { username, password, tls } = stateSchema.properties

const persist = object(
  {
    url: text('redis-url', {
      description: 'URL of a Valkey or Redis server: `redis://HOST:PORT/DATABASE`, or `rediss://` for TLS.',
    }),
    username,
    password,
    keyPrefix: Type.String({
      maxLength: 64,
      default: 'sluice-cache:',
      description: 'Prefix of all keys. Each cache server needs its own prefix.',
    }),
    timeout: duration('10ms', '10s', {
      default: '250ms',
      description: 'Maximum time that a request waits for the store.',
    }),
    tls,
  },
  {
    description:
      'Store that keeps values when the cache server restarts. Absent: values are kept in memory only.',
  },
)

const spaceName = Type.String({
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$',
  expects: "a name of up to 64 letters, digits, '.', '_' and '-'",
})

/** Schema of the cache server that the supervisor runs. */
export const cacheServeSchema = object(
  {
    listen: text('address', {
      default: '127.0.0.1:9910',
      description: 'Listen address. `token` is required unless the address is loopback.',
    }),
    workers: integer(1, 64, { default: 1, description: 'Number of server threads.' }),
    maxBytes: size(...memory, {
      default: '256mb',
      description: 'Memory for values that are not in a space with its own `maxBytes`.',
    }),
    maxObjectBytes: size('1b', '2mb', {
      default: '1mb',
      description: 'Largest value. At most one eighth of the memory of its space.',
    }),
    ttl: duration(...timeToLive, {
      default: '1h',
      description: 'Default lifetime of a value that is stored without one.',
    }),
    connections: integer(1, 1_000_000, {
      default: 5000,
      description: 'Maximum number of connections per thread.',
    }),
    spaces: mapOf(space, {
      default: {},
      description: 'Settings of individual spaces, by name. Spaces that are not listed use the defaults.',
      propertyNames: spaceName,
      maxProperties: 64,
    }),
    persist: Type.Optional(persist),
    tls: Type.Optional(object(certificate, { description: 'Serves HTTPS. Requires `url`.' })),
  },
  {
    description:
      'Runs a cache server as a child process of the supervisor. If several replicas share a cache, configure this in one of them, and only `url` in the others.',
  },
)

/** `cache.serve` of a document, with defaults filled in. */
export type CacheServeDocument = Static<typeof cacheServeSchema>
