import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, name, object, oneOf, size, text } from './build.js'

const certificate = {
  certFile: filePath('The certificate chain, PEM.'),
  keyFile: filePath('The private key, PEM.'),
}

const limits = object(
  {
    headerBytes: size(
      { min: '1kb', max: '1mb' },
      { default: '16kb', description: 'Largest request head; above it 431.' },
    ),
    headers: integer(1, 1000, { default: 100, description: 'Most header lines; above it 431.' }),
    urlBytes: size(
      { min: '64b', max: '64kb' },
      { default: '8kb', description: 'Longest request target; above it 414.' },
    ),
    bodyBytes: size(
      { min: '0b', max: '1024gb' },
      { default: '10mb', description: 'Largest request body; above it 413.' },
    ),
    connections: integer(1, 1_000_000, { default: 10_000, description: 'Open connections, per worker.' }),
    bodyIdle: duration(
      { min: '1s', max: '1h' },
      { default: '30s', description: 'Longest wait for the next bytes of a request body; after it 408.' },
    ),
  },
  { default: {}, description: 'What the listener accepts from clients.' },
)

/** One address that clients connect to. */
export const listenerSchema = object(
  {
    address: text('address', {
      description:
        '`host:port`, `[::1]:8080`; `*:8080` or `:8080` for every IPv4 address; port 0 for any free port.',
    }),
    engine: oneOf(['uws', 'node'], { default: 'uws', description: 'The HTTP server behind the address.' }),
    tls: Type.Optional(
      object(
        {
          ...certificate,
          clientCaFile: Type.Optional(filePath('The authorities of client certificates, PEM.')),
        },
        { description: 'HTTPS. Without it the listener speaks HTTP.' },
      ),
    ),
    trustedProxies: Type.Array(text('ip-range'), {
      default: [],
      maxItems: 1000,
      uniqueItems: true,
      description: 'Whose X-Forwarded-* and X-Request-Id are believed.',
    }),
    health: Type.Boolean({
      default: false,
      description: 'Answers /-/healthz and /-/readyz, for load balancers.',
    }),
    paths: oneOf(['as-received', 'strict'], {
      default: 'as-received',
      description:
        '`as-received` forwards the path as it came, with dot segments and leading slashes resolved; `strict` refuses a path that is not canonical with 400.',
    }),
    limits,
  },
  { description: 'One address that clients connect to.' },
)

const token = object(
  {
    id: name('Who holds it; stands in the operation log.'),
    sha256: Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      secret: true,
      expects: 'the SHA-256 of the token, 64 hexadecimal digits',
      description: 'SHA-256 of the token, hexadecimal.',
    }),
    role: oneOf(['viewer', 'operator', 'admin'], {
      default: 'viewer',
      description: 'What the holder may do: look, drain as well, deploy as well.',
    }),
  },
  { description: 'One token.' },
)

/** Where `gw` and Prometheus connect. */
export const adminSchema = object(
  {
    address: text('address', {
      default: '127.0.0.1:9901',
      description: '`host:port`. Anything but loopback needs tls and tokens.',
    }),
    tls: Type.Optional(object(certificate, { description: 'HTTPS for the admin API.' })),
    tokens: Type.Array(token, {
      default: [],
      maxItems: 1000,
      description: 'Who may call. Empty: everybody who can reach the address.',
    }),
  },
  { default: {}, description: 'The admin API and the metrics.' },
)
