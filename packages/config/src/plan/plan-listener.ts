/** A listen address. */
export interface Address {
  /** `host:port`; IPv6 hosts are in brackets. */
  readonly address: string
  /** Host without brackets. */
  readonly host: string
  /** Port number; 0 if the supervisor chooses a free port. */
  readonly port: number
}

/** A listener for clients. */
export interface ListenerPlan extends Address {
  readonly engine: 'uws' | 'node'
  readonly tls: ListenerTlsPlan | null
  /** HTTP/2 settings, or null if the engine does not support it. */
  readonly http2: Http2Plan | null
  /** CIDR ranges of proxies whose X-Forwarded-* and X-Request-Id headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** True if connections from trusted proxies start with a PROXY header. */
  readonly proxyProtocol: boolean
  /** True if clients may half-close a connection and still receive their responses. */
  readonly allowHalfClose: boolean
  /** Header with client addresses that trusted proxies set. */
  readonly forwardedHeader: 'x-forwarded-for' | 'forwarded'
  /** True if the listener serves /-/healthz and /-/readyz. */
  readonly health: boolean
  /** Form of the path sent to upstreams: canonical, as received, or as received if it is unambiguous. */
  readonly paths: 'canonical' | 'as-received' | 'strict'
  readonly limits: ListenerLimits
}

/** Files of a certificate and its private key. */
export interface KeyPairPlan {
  readonly certFile: string
  readonly keyFile: string
}

/** A certificate that a listener presents. */
export interface ListenerCertificatePlan extends KeyPairPlan {
  /** File of the stapled OCSP response. Absent: none. */
  readonly ocspFile?: string
}

/** A certificate for certain server names. */
export interface NamedCertificatePlan extends ListenerCertificatePlan {
  /** Server names. Empty: the names in the certificate. */
  readonly serverNames: readonly string[]
}

/** TLS settings of a listener. */
export interface ListenerTlsPlan extends ListenerCertificatePlan {
  /** Additional certificates by server name. Other clients get the listener's default certificate. */
  readonly certificates: readonly NamedCertificatePlan[]
  /** CA file for client certificates, or null if none are requested. */
  readonly clientCaFile: string | null
  /** `optional` also accepts clients without a certificate. */
  readonly clientCertificate: 'required' | 'optional'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** HTTP/2 settings of a listener. */
export interface Http2Plan {
  /** True if HTTP/2 is offered over TLS (ALPN). */
  readonly alpn: boolean
  /** True if HTTP/2 is accepted without TLS when a connection starts with its preface. */
  readonly priorKnowledge: boolean
  /** Maximum number of concurrent requests per connection. */
  readonly streams: number
}

/** Limits of a listener. */
export interface ListenerLimits {
  readonly headerBytes: number
  readonly headers: number
  readonly urlBytes: number
  readonly bodyBytes: number
  /** Number of request body bytes to buffer before a connection to the upstream is used. */
  readonly bodyBufferBytes: number
  /** Maximum number of open connections per listener and worker. */
  readonly connections: number
  /** Maximum number of open connections per client address. */
  readonly connectionsPerClient: number
  /** Maximum idle time between requests. */
  readonly keepAliveMs: number
  /** Maximum time to receive a request head, or to complete a TLS handshake. */
  readonly headTimeoutMs: number
  /** Maximum idle time within a request body. */
  readonly bodyIdleMs: number
  /** Minimum upload rate in bytes per second; 0: no minimum. */
  readonly minBodyRate: number
  /** Minimum download rate in bytes per second while response data is waiting; 0: no minimum. */
  readonly minReadRate: number
}
