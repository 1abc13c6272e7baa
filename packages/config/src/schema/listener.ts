import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, name, object, oneOf, size, text } from './build.js'

/** Where a certificate is, and its key. */
export const certificate = {
  certFile: filePath('The certificate chain, PEM.'),
  keyFile: filePath('The private key, PEM.'),
}

const namedCertificate = object(
  {
    ...certificate,
    serverNames: Type.Array(text('host-pattern'), {
      default: [],
      maxItems: 100,
      uniqueItems: true,
      description:
        'The names that it is for: `api.example.com`, or `*.example.com` for one label below. Empty: those that stand in it.',
    }),
  },
  { description: 'One certificate.' },
)

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
    bodyBuffer: size(
      { min: '0b', max: '16mb' },
      {
        default: '64kb',
        description:
          'A request takes no connection to its upstream before its body is here, or so much of a longer one.',
      },
    ),
    connections: integer(1, 1_000_000, { default: 10_000, description: 'Open connections, per worker.' }),
    connectionsPerClient: Type.Optional(
      integer(1, 1_000_000, {
        description:
          'Open connections from one address, per worker; those of `trustedProxies` do not count. Default: a quarter of `connections`, at least 100.',
      }),
    ),
    keepAlive: Type.Optional(
      duration(
        { min: '1s', max: '1h' },
        {
          description:
            'How long a connection is kept that waits for its next request (`engine: node`; 10 s with `uws`). Default: 75s.',
        },
      ),
    ),
    headTimeout: Type.Optional(
      duration(
        { min: '1s', max: '10m' },
        {
          description:
            'Longest time for a request head, or a TLS handshake; after it 408 (`engine: node`; 10 s with `uws`). Default: 10s.',
        },
      ),
    ),
    bodyIdle: duration(
      { min: '1s', max: '1h' },
      { default: '30s', description: 'Longest wait for the next bytes of a request body; after it 408.' },
    ),
    minBodyRate: size(
      { min: '0b', max: '1gb' },
      {
        default: '240b',
        description:
          'Bytes a second that a request body must bring; who falls behind by `bodyIdle` gets 408. 0b: any rate.',
      },
    ),
    minReadRate: size(
      { min: '0b', max: '1gb' },
      {
        default: '240b',
        description:
          'Bytes a second that a client must take of a response that waits for it; who falls behind by `timeouts.idle` is cut. 0b: any rate.',
      },
    ),
  },
  { default: {}, description: 'What the listener accepts from clients.' },
)

const http2 = object(
  {
    alpn: Type.Boolean({
      default: true,
      description: 'Over TLS, offers `h2` beside `http/1.1`.',
    }),
    priorKnowledge: Type.Boolean({
      default: false,
      description:
        'Without TLS, takes a connection that begins with the HTTP/2 preface for HTTP/2. A proxy in front that passes such a preface on opens a tunnel past its own rules, so it has to be asked for.',
    }),
    streams: integer(1, 1000, { default: 100, description: 'Requests at a time on one connection.' }),
  },
  { description: 'HTTP/2 ([protocols](../guides/protocols.md)); needs `engine: node`.' },
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
          certificates: Type.Array(namedCertificate, {
            default: [],
            maxItems: 1000,
            description:
              'More certificates, chosen by the name that the client asks for (SNI); who asks for another name, or for none, gets that of `certFile`.',
          }),
          clientCaFile: Type.Optional(
            filePath(
              'The authorities of client certificates, PEM: a client without one of theirs gets no connection (`engine: node`).',
            ),
          ),
          clientCertificate: Type.Optional(
            oneOf(['required', 'optional'], {
              description:
                'With `clientCaFile`: `optional` lets clients without a certificate in as well, for routes that ask for none; `mtls` refuses them where it stands. One of another authority gets no connection either way. Default: required.',
            }),
          ),
          minVersion: Type.Optional(
            oneOf(['TLSv1.2', 'TLSv1.3'], {
              description: 'The oldest version of TLS (`engine: node`). Default: TLSv1.2.',
            }),
          ),
        },
        { description: 'HTTPS. Without it the listener speaks HTTP.' },
      ),
    ),
    http2: Type.Optional(http2),
    trustedProxies: Type.Array(text('ip-range'), {
      default: [],
      maxItems: 1000,
      uniqueItems: true,
      description: 'Whose X-Forwarded-* (or Forwarded) and X-Request-Id are believed.',
    }),
    proxyProtocol: Type.Boolean({
      default: false,
      description:
        'Connections from `trustedProxies` begin with a PROXY header, version 1 or 2, which says who the client is; those of others are served as they come (`engine: node`).',
    }),
    allowHalfClose: Type.Boolean({
      default: false,
      description:
        'True if clients may half-close the connection (FIN) and still get their responses. By default the requests of such a client are cancelled (`engine: node`).',
    }),
    forwardedHeader: oneOf(['x-forwarded-for', 'forwarded'], {
      default: 'x-forwarded-for',
      description:
        'Which field the trusted proxies write: X-Forwarded-For, -Proto and the like, or Forwarded (RFC 7239). The other is removed: a proxy that does not write it may pass on what its client wrote.',
    }),
    health: Type.Boolean({
      default: false,
      description: 'Answers /-/healthz and /-/readyz, for load balancers.',
    }),
    paths: oneOf(['canonical', 'as-received', 'strict'], {
      default: 'canonical',
      description:
        'Form of the path that upstreams get ([paths](../guides/paths.md)). `canonical`: dot segments and slashes resolved, needless escapes decoded. `as-received`: the original path, except for dot segments, leading slashes and characters that must be escaped. `strict`: the original path; ambiguous or non-canonical paths are refused with 400.',
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
