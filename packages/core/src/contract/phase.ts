/**
 * Phases that an exchange's time is divided into, in their usual order. An exchange is always in exactly one
 * phase, so the times add up to the total.
 *
 *     route ─► request chain ─► request body ─► queue ─► DNS, TCP, TLS ─► first byte ─► response chain ─► response body ─► client
 */
export const PHASE = {
  /** Receiving the request head and finding the route. */
  route: 0,
  /** Running the request policies. */
  requestChain: 1,
  /** Waiting for the request body: all of it if a policy needs it, otherwise its beginning. */
  requestBody: 2,
  /** Waiting for an upstream connection, except for the next three phases. */
  upstreamQueue: 3,
  /** Waiting for the DNS lookup of a new connection. */
  upstreamName: 4,
  /** Waiting for the TCP handshake. */
  upstreamTcp: 5,
  /** Waiting for the TLS handshake. */
  upstreamTls: 6,
  /** Time from getting a connection to the response head, including the upload of the request body. */
  upstreamFirstByte: 7,
  /** Running the policies on the response. */
  responseChain: 8,
  /** Waiting for the response body from the target. */
  upstreamBody: 9,
  /** Waiting for the client to read the response. */
  clientWrite: 10,
} as const

/** A phase number from `PHASE`. */
export type Phase = (typeof PHASE)[keyof typeof PHASE]

/** Names of the phases in the traffic log, indexed by phase number. */
export const PHASE_NAMES: readonly string[] = [
  'route',
  'req_chain',
  'req_body',
  'up_queue',
  'up_dns',
  'up_tcp',
  'up_tls',
  'up_ttfb',
  'res_chain',
  'up_body',
  'client_write',
]
