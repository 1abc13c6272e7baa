/** Where clients are served. */
export interface ListenerPlan {
  /** `host:port`; an IPv6 host stands in brackets. */
  readonly address: string
  readonly host: string
  /** 0: any free port, chosen by the supervisor. */
  readonly port: number
  readonly engine: 'uws' | 'node'
  readonly tls: ListenerTlsPlan | null
  /** Null where the engine does not speak it. */
  readonly http2: Http2Plan | null
  /** CIDR ranges whose X-Forwarded-* and X-Request-Id are believed. */
  readonly trustedProxies: readonly string[]
  /** Connections from trusted proxies begin with a PROXY header. */
  readonly proxyProtocol: boolean
  /** True if clients may close their sending side and still get their responses. */
  readonly allowHalfClose: boolean
  /** Which of the fields that name clients the trusted proxies write. */
  readonly forwardedHeader: 'x-forwarded-for' | 'forwarded'
  /** Answers /-/healthz and /-/readyz itself. */
  readonly health: boolean
  /** What is forwarded: the canonical path, the one received, or the one received where every server reads it alike. */
  readonly paths: 'canonical' | 'as-received' | 'strict'
  readonly limits: ListenerLimits
}

/** A certificate and its key. */
export interface KeyPairPlan {
  readonly certFile: string
  readonly keyFile: string
}

/** A certificate for some names. */
export interface NamedCertificatePlan extends KeyPairPlan {
  /** Empty: those that stand in it. */
  readonly serverNames: readonly string[]
}

export interface ListenerTlsPlan extends KeyPairPlan {
  /** By server name; whoever asks for none of theirs gets the listener's own. */
  readonly certificates: readonly NamedCertificatePlan[]
  /** Authorities of client certificates; null: none is asked for. */
  readonly clientCaFile: string | null
  /** Whether clients without a certificate are let in, too. */
  readonly clientCertificate: 'required' | 'optional'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

export interface Http2Plan {
  /** Offered to clients over TLS. */
  readonly alpn: boolean
  /** Taken from clients without TLS that begin with its preface. */
  readonly priorKnowledge: boolean
  /** Requests at a time on one connection. */
  readonly streams: number
}

export interface ListenerLimits {
  readonly headerBytes: number
  readonly headers: number
  readonly urlBytes: number
  readonly bodyBytes: number
  /** Bytes of a request body that are here before its request takes a connection to the upstream. */
  readonly bodyBuffer: number
  /** Open connections per listener and worker. */
  readonly connections: number
  /** The same from one address. */
  readonly connectionsPerClient: number
  /** How long a connection is kept that waits for its next request. */
  readonly keepAliveMs: number
  /** Longest time from the first byte of a request head, or of a TLS handshake, to its end. */
  readonly headTimeoutMs: number
  /** Longest wait for the next bytes of a request body. */
  readonly bodyIdleMs: number
  /** Bytes a second that a request body must bring; 0: any rate. */
  readonly minBodyRate: number
  /** Bytes a second that a client must take of a response that waits for it; 0: any rate. */
  readonly minReadRate: number
}
