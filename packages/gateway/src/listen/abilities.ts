/** A capability of listeners, with the support of each engine. */
export interface Ability {
  readonly what: string
  readonly uws: string
  readonly node: string
}

/** Differences between the engines. docs/guides/engines.md has the same table. */
export const ABILITIES: readonly Ability[] = [
  { what: 'HTTP/1.0', uws: 'no, 505', node: 'yes' },
  { what: 'pipelined requests', uws: 'no, the connection closes', node: 'yes, in order' },
  { what: 'absolute-form targets', uws: 'no, 505', node: 'yes' },
  { what: 'chunk extensions', uws: 'no', node: 'checked and dropped' },
  { what: 'trailers', uws: 'no', node: 'yes' },
  { what: 'malformed heads', uws: 'closed, mostly without an answer', node: '400 and a record' },
  { what: 'bytes from 0x80 on in values', uws: '400; lost at the ends of a value', node: 'kept' },
  { what: 'Expect: 100-continue', uws: 'answered before policies', node: 'answered after policies' },
  {
    what: 'half-closed clients',
    uws: 'count as gone',
    node: 'requests cancelled, unless allowHalfClose is true',
  },
  { what: 'limits.keepAlive, headTimeout', uws: 'no, 10 s', node: 'yes' },
  { what: 'tls.certificates (SNI)', uws: 'yes', node: 'yes' },
  { what: 'certificates renewed', uws: 'at a restart', node: 'within 10 s' },
  { what: 'tls.clientCaFile, clientCertificate, minVersion, ocspFile', uws: 'no', node: 'yes' },
  { what: 'proxyProtocol', uws: 'no', node: 'yes' },
  { what: 'HTTP/2', uws: 'no', node: 'over TLS by ALPN; else with http2.priorKnowledge' },
  { what: 'WebSocket', uws: 'up to 1 MB, uncompressed', node: 'yes' },
]
