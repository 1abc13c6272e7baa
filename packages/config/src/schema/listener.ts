import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, name, object, oneOf, size, text } from './build.js'

/** Schema of the files of a certificate and its private key. */
export const certificate = {
  certFile: filePath('Certificate chain file, PEM.'),
  keyFile: filePath('Private key file, PEM.'),
}

/** Certificate of a listener, with its stapled OCSP response. */
const listenerCertificate = {
  ...certificate,
  ocspFile: Type.Optional(
    filePath(
      'File with the OCSP response for the certificate, in DER. The response is sent to clients that ask for it (`engine: node`). A response for another certificate is ignored.',
    ),
  ),
}

const namedCertificate = object(
  {
    ...listenerCertificate,
    serverNames: Type.Array(text('host-pattern'), {
      default: [],
      maxItems: 100,
      uniqueItems: true,
      description:
        'Server names that use this certificate: `api.example.com`, or `*.example.com` for one level of subdomains. Empty: the names in the certificate.',
    }),
  },
  { description: 'A certificate for some server names.' },
)

const limits = object(
  {
    headerBytes: size('1kb', '1mb', {
      default: '16kb',
      description: 'Maximum size of the request head. Larger: 431.',
    }),
    headers: integer(1, 1000, { default: 100, description: 'Maximum number of header lines. More: 431.' }),
    urlBytes: size('64b', '64kb', {
      default: '8kb',
      description: 'Maximum length of the request target. Longer: 414.',
    }),
    bodyBytes: size('0b', '1024gb', {
      default: '10mb',
      description: 'Maximum size of the request body. Larger: 413.',
    }),
    bodyBufferBytes: size('0b', '16mb', {
      default: '64kb',
      description:
        'Number of request body bytes that are buffered before a connection to the upstream is used. Smaller bodies are buffered completely.',
    }),
    connections: integer(1, 1_000_000, {
      default: 10_000,
      description: 'Maximum number of open connections per worker.',
    }),
    connectionsPerClient: Type.Optional(
      integer(1, 1_000_000, {
        description:
          'Maximum number of open connections per client address and worker. Connections from `trustedProxies` are not counted. Default: a quarter of `connections`, but at least 100.',
      }),
    ),
    keepAlive: Type.Optional(
      duration('1s', '1h', {
        description:
          'Maximum idle time of a client connection between requests (`engine: node`; fixed at 10 s with `uws`). Default: 75s.',
      }),
    ),
    headTimeout: Type.Optional(
      duration('1s', '10m', {
        description:
          'Maximum time to receive a request head or to finish a TLS handshake, then 408 (`engine: node`; fixed at 10 s with `uws`). Default: 10s.',
      }),
    ),
    bodyIdle: duration('1s', '1h', {
      default: '30s',
      description: 'Maximum idle time within a request body, then 408.',
    }),
    minBodyRate: size('0b', '1gb', {
      default: '240b',
      description:
        'Minimum upload rate in bytes per second. A client that is more than `bodyIdle` behind gets 408. 0b disables this.',
    }),
    minReadRate: size('0b', '1gb', {
      default: '240b',
      description:
        'Minimum download rate in bytes per second while response data is waiting. A client that is more than `timeouts.idle` behind is disconnected. 0b disables this.',
    }),
  },
  { default: {}, deprecatedKeys: { bodyBuffer: 'bodyBufferBytes' }, description: 'Limits for clients.' },
)

const http2 = object(
  {
    alpn: Type.Boolean({ default: true, description: 'Offers `h2` in addition to `http/1.1` over TLS.' }),
    priorKnowledge: Type.Boolean({
      default: false,
      description:
        'Accepts HTTP/2 without TLS if a connection starts with the HTTP/2 preface. Off by default: a proxy in front that forwards the preface would create a tunnel that bypasses its rules.',
    }),
    streams: integer(1, 1000, {
      default: 100,
      description: 'Maximum number of concurrent requests per connection.',
    }),
  },
  { description: 'HTTP/2 ([protocols](../guides/protocols.md)). Requires `engine: node`.' },
)

/** Schema of a listener. */
export const listenerSchema = object(
  {
    address: text('address', {
      description:
        '`host:port` or `[::1]:8080`. `*:8080` or `:8080` listens on all IPv4 addresses. Port 0 selects a free port.',
    }),
    engine: oneOf(['uws', 'node'], { default: 'uws', description: 'HTTP server implementation.' }),
    tls: Type.Optional(
      object(
        {
          ...listenerCertificate,
          certificates: Type.Array(namedCertificate, {
            default: [],
            maxItems: 1000,
            description:
              'Additional certificates, selected by the server name of the client (SNI). Clients that send another name or no name get the certificate in `certFile`.',
          }),
          clientCaFile: Type.Optional(
            filePath(
              'CA certificates for client certificates, PEM. Clients whose certificate was issued by another CA cannot connect (`engine: node`).',
            ),
          ),
          clientCertificate: Type.Optional(
            oneOf(['required', 'optional'], {
              description:
                'With `clientCaFile`: `optional` also accepts clients without a certificate; use the policy `mtls` on routes that need one. Certificates of other CAs are always rejected. Default: required.',
            }),
          ),
          minVersion: Type.Optional(
            oneOf(['TLSv1.2', 'TLSv1.3'], {
              description: 'Minimum TLS version (`engine: node`). Default: TLSv1.2.',
            }),
          ),
        },
        { description: 'TLS settings. Absent: the listener serves plain HTTP.' },
      ),
    ),
    http2: Type.Optional(http2),
    trustedProxies: Type.Array(text('ip-range'), {
      default: [],
      maxItems: 1000,
      uniqueItems: true,
      description:
        'CIDR ranges of proxies whose X-Forwarded-* (or Forwarded) and X-Request-Id headers are trusted.',
    }),
    proxyProtocol: Type.Boolean({
      default: false,
      description:
        'Expects a PROXY protocol header (version 1 or 2) with the client address on connections from `trustedProxies`. Other connections are served without it (`engine: node`).',
    }),
    allowHalfClose: Type.Boolean({
      default: false,
      description:
        'Allows clients to half-close a connection (FIN) and still receive their responses. By default the requests of such a client are cancelled (`engine: node`).',
    }),
    forwardedHeader: oneOf(['x-forwarded-for', 'forwarded'], {
      default: 'x-forwarded-for',
      description:
        'Header that the trusted proxies set: X-Forwarded-For and the other X-Forwarded-* headers, or Forwarded (RFC 7239). The other one is removed, because a proxy that does not set it may forward the value sent by its client.',
    }),
    health: Type.Boolean({
      default: false,
      description: 'Serves /-/healthz and /-/readyz for load balancers.',
    }),
    paths: oneOf(['canonical', 'as-received', 'strict'], {
      default: 'canonical',
      description:
        'Form of the path sent to upstreams ([paths](../guides/paths.md)). `canonical`: dot segments and duplicate slashes are resolved and unnecessary escapes decoded. `as-received`: the original path, except for dot segments, leading slashes and characters that must be escaped. `strict`: the original path; ambiguous or non-canonical paths are rejected with 400.',
    }),
    limits,
  },
  { description: 'An address that accepts client connections.' },
)

const token = object(
  {
    id: name('Name of the token holder, written to the operation log.'),
    sha256: Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      secret: true,
      expects: 'the SHA-256 of the token, 64 hexadecimal digits',
      description: 'SHA-256 of the token in hexadecimal.',
    }),
    role: oneOf(['viewer', 'operator', 'admin'], {
      default: 'viewer',
      description: 'Permissions: `viewer` can read, `operator` can also drain, `admin` can also deploy.',
    }),
  },
  { description: 'A token for the admin API.' },
)

/** Schema of the admin API. */
export const adminSchema = object(
  {
    address: text('address', {
      default: '127.0.0.1:9901',
      description: '`host:port`. `tls` and `tokens` are required unless the address is loopback.',
    }),
    tls: Type.Optional(object(certificate, { description: 'TLS for the admin API.' })),
    tokens: Type.Array(token, {
      default: [],
      maxItems: 1000,
      description: 'Tokens that are accepted. Empty: no authentication.',
    }),
    ui: Type.Boolean({ default: true, description: 'Serves the dashboard at /ui.' }),
  },
  { default: {}, description: 'Admin API and metrics.' },
)
