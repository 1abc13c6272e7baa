import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, object, text } from './build.js'
import { cacheServeSchema } from './cache-serve.js'

const tls = object(
  {
    caFile: Type.Optional(filePath('The authority that signed the certificate of the server, PEM.')),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For trials only.' }),
  },
  { default: {}, description: 'How the server of an `https://` address is trusted.' },
)

/** The cache server that policies keep values at. */
export const cacheSchema = object(
  {
    url: Type.Optional(
      text('cache-url', {
        description:
          'Where a cache server listens: `http://HOST:PORT`, or `https://` for TLS. With `serve`, by default the address of that one.',
      }),
    ),
    serve: Type.Optional(cacheServeSchema),
    token: Type.Optional(
      Type.String({ secret: true, minLength: 1, maxLength: 4096, description: 'Its token.' }),
    ),
    timeout: duration(
      { min: '10ms', max: '10s' },
      {
        default: '250ms',
        description: 'How long the server may take for an answer, with the wait for a connection.',
      },
    ),
    connections: integer(1, 1024, { default: 32, description: 'Connections of each worker to it.' }),
    tls,
  },
  {
    choice: { keys: ['url', 'serve'], min: 1, max: 2 },
    description:
      'The cache server that policies with `use: cache` keep values at. Absent: the supervisor has them in memory, for the workers of this gateway.',
  },
)
