import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, object, text } from './build.js'
import { cacheServeSchema } from './cache-serve.js'

const tls = object(
  {
    caFile: Type.Optional(filePath('CA certificates that the server certificate is verified against, PEM.')),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
  },
  { default: {}, description: 'Verification of the certificate of an `https://` server.' },
)

/** Schema of the cache server in which policies store values. */
export const cacheSchema = object(
  {
    url: Type.Optional(
      text('cache-url', {
        description:
          'URL of the cache server: `http://HOST:PORT`, or `https://` for TLS. Default: the address of `serve`.',
      }),
    ),
    serve: Type.Optional(cacheServeSchema),
    token: Type.Optional(
      Type.String({ secret: true, minLength: 1, maxLength: 4096, description: 'Token of the cache server.' }),
    ),
    timeout: duration('10ms', '10s', {
      default: '250ms',
      description: 'Maximum time for a response, including the wait for a connection.',
    }),
    connections: integer(1, 1024, {
      default: 32,
      description: 'Maximum number of connections from each worker.',
    }),
    tls,
  },
  {
    choice: { keys: ['url', 'serve'], min: 1, max: 2 },
    description:
      'Cache server in which policies with `use: cache` store values. Absent: values are stored in the memory of the supervisor and shared by the workers of this gateway.',
  },
)
