import { Type } from '@sinclair/typebox'
import { duration, filePath, object, text } from './build.js'

const tls = object(
  {
    caFile: Type.Optional(filePath('The authority that signed the certificate of the server, PEM.')),
    serverName: Type.Optional(
      text('host', {
        description:
          'The name in its certificate, where it is reached by another one or by an address. Of a cluster: of all nodes.',
      }),
    ),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For trials only.' }),
  },
  { default: {}, description: 'How the server of a `rediss://` address is trusted.' },
)

/** The store that replicas share. */
export const stateSchema = object(
  {
    url: Type.Optional(
      text('redis-url', {
        description:
          'Valkey or Redis, `redis://HOST:PORT/DATABASE`, or `rediss://` for TLS. The port is 6379 and the database 0 where they are left out.',
      }),
    ),
    cluster: Type.Optional(
      Type.Array(text('redis-url'), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description:
          'In the place of `url`: nodes of a cluster of Valkey or Redis, `redis://HOST:PORT`, or all of them `rediss://`. They name the others. Several are there so that one answers.',
      }),
    ),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The user.' })),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'The password.' })),
    keyPrefix: Type.String({
      maxLength: 64,
      default: 'sluice:',
      description:
        'What all keys begin with: gateways share what has the same server, database and prefix. One with braces, `{a}:`, has a cluster keep all on one node.',
    }),
    timeout: duration(
      { min: '10ms', max: '10s' },
      {
        default: '250ms',
        description: 'How long the server may take for an answer; then what asked acts as without a store.',
      },
    ),
    slowAfter: duration(
      { min: '5ms', max: '10s' },
      {
        default: '150ms',
        description:
          'Average response time above which the server counts as slow. `rate-limit` and `quota` then follow `onStoreDown`, until the average has been below half of this value for 5 s. A value above `timeout` disables this check.',
      },
    ),
    tls,
  },
  {
    description:
      'What replicas share. Absent: the supervisor has it in memory, for the workers of this gateway.',
  },
)
