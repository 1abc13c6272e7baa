import { Type } from '@sinclair/typebox'
import { duration, filePath, object, text } from './build.js'

const tls = object(
  {
    caFile: Type.Optional(filePath('CA certificates that the server certificate is verified against, PEM.')),
    servername: Type.Optional(
      text('host', {
        description:
          'Name in the server certificate, if it differs from the host in the URL. In a cluster it applies to all nodes.',
      }),
    ),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
  },
  {
    default: {},
    deprecatedKeys: { serverName: 'servername' },
    description: 'TLS settings for `rediss://` URLs.',
  },
)

/** Schema of the store that replicas share. */
export const stateSchema = object(
  {
    url: Type.Optional(
      text('redis-url', {
        description:
          'URL of a Valkey or Redis server: `redis://HOST:PORT/DATABASE`, or `rediss://` for TLS. Default port 6379, default database 0.',
      }),
    ),
    cluster: Type.Optional(
      Type.Array(text('redis-url'), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description:
          'URLs of cluster nodes, instead of `url`: `redis://HOST:PORT`, or `rediss://` for all of them. The other nodes are discovered. List several, so that one of them is reachable.',
      }),
    ),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'User name.' })),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'Password.' })),
    keyPrefix: Type.String({
      maxLength: 64,
      default: 'sluice:',
      description:
        'Prefix of all keys. Gateways with the same server, database and prefix share their state. A prefix with braces such as `{a}:` makes a cluster store all keys on one node.',
    }),
    timeout: duration('10ms', '10s', {
      default: '250ms',
      description: 'Maximum time for a response. After it, policies behave as if the store were unavailable.',
    }),
    slowAfter: duration('5ms', '10s', {
      default: '150ms',
      description:
        'Average response time above which the server counts as slow. `rate-limit` and `quota` then follow `onStoreDown`, until the average has been below half of this value for 5 s. A value above `timeout` disables this check.',
    }),
    tls,
  },
  {
    description:
      'Store for state that replicas share. Absent: state is kept in the memory of the supervisor and shared by the workers of this gateway.',
  },
)
