/**
 * The parts that the time of an exchange is divided into, in the order they usually come. An exchange is in exactly
 * one of them at any moment, so that the parts add up to the whole.
 *
 *     route ─► request chain ─► request body ─► queue ─► name, TCP, TLS ─► first byte ─► response chain ─► response body ─► client
 */
export const PHASE = {
  /** Taking in the head, finding the route. */
  route: 0,
  /** The policies before the upstream. */
  requestChain: 1,
  /** Waiting for the request body: all of it for a policy that needs it, else its beginning. */
  requestBody: 2,
  /** Waiting for a connection to the target, except for what follows. */
  upstreamQueue: 3,
  /** Waiting for a new connection: for the address of its name, */
  upstreamName: 4,
  /** for the TCP handshake, */
  upstreamTcp: 5,
  /** and for the TLS handshake. */
  upstreamTls: 6,
  /** From a connection to the response head; an upload is part of it. */
  upstreamFirstByte: 7,
  /** The policies that look at the response head. */
  responseChain: 8,
  /** Waiting for the response body of the target. */
  upstreamBody: 9,
  /** Waiting for the client to take what was written. */
  clientWrite: 10,
} as const

/** One of PHASE. */
export type Phase = (typeof PHASE)[keyof typeof PHASE]

/** The names of the phases in the traffic log, by their numbers. */
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
