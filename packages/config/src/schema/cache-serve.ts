import { type Static, Type } from '@sinclair/typebox'
import { duration, integer, mapOf, object, size, text } from './build.js'
import { certificate } from './listener.js'
import { stateSchema } from './state.js'

const timeToLive = { min: '1ms', max: '365d' }
const memory = { min: '8mb', max: '64gb' }

const space = object({
  ttl: Type.Optional(
    duration(timeToLive, { description: 'How long a value stays in this space; by default as in all.' }),
  ),
  max: Type.Optional(
    size(memory, { description: 'Memory of its own, so that other spaces cannot evict what is in it.' }),
  ),
})

const { username, password, tls } = stateSchema.properties

const persist = object(
  {
    url: text('redis-url', {
      description: 'Valkey or Redis, `redis://HOST:PORT/DATABASE`, or `rediss://` for TLS.',
    }),
    username,
    password,
    keyPrefix: Type.String({
      maxLength: 64,
      default: 'sluice-cache:',
      description: 'What all keys begin with: each server needs a prefix of its own.',
    }),
    timeout: duration(
      { min: '10ms', max: '10s' },
      { default: '250ms', description: 'How long a request waits for it.' },
    ),
    tls,
  },
  { description: 'Where values outlive the server. Absent: nowhere.' },
)

const spaceName = Type.String({
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$',
  expects: "a name of up to 64 letters, digits, '.', '_' and '-'",
})

/** The cache server that the supervisor runs. */
export const cacheServeSchema = object(
  {
    listen: text('address', {
      default: '127.0.0.1:9910',
      description: 'Where it listens; anything but loopback needs `token`.',
    }),
    workers: integer(1, 64, { default: 1, description: 'Threads that serve.' }),
    maxBytes: size(memory, { default: '256mb', description: 'Memory for values.' }),
    maxObjectBytes: size(
      { min: '1b', max: '2mb' },
      { default: '1mb', description: 'Longest value; at most an eighth of the memory that it may lie in.' },
    ),
    ttl: duration(timeToLive, {
      default: '1h',
      description: 'How long a value stays that is put without a time of its own.',
    }),
    connections: integer(1, 1_000_000, { default: 5000, description: 'Most connections to one thread.' }),
    spaces: mapOf(space, {
      default: {},
      description: 'What spaces have of their own. All others need no setting up.',
      propertyNames: spaceName,
      maxProperties: 64,
    }),
    persist: Type.Optional(persist),
    tls: Type.Optional(object(certificate, { description: 'Serves https; needs `url`.' })),
  },
  {
    description:
      'Has the supervisor run a cache server, as a process of its own beside the workers. Of several replicas one runs it, and the others name its `url`.',
  },
)

/** The server as the document describes it, defaults filled. */
export type CacheServeDocument = Static<typeof cacheServeSchema>
