/** How slow a client may be, from the limits of its listener. */
export interface ClientPace {
  /** Bytes of a request body that are here before its request takes a connection to the upstream. */
  readonly bodyBuffer: number
  /** Longest wait for the next bytes of the request body, ms; the credit of a client that falls behind `minBodyRate`. */
  readonly bodyIdleMs: number
  /** Bytes a second that a request body must bring; 0: any rate. */
  readonly minBodyRate: number
  /** Bytes a second that a client must take of a response that waits for it; 0: any rate. */
  readonly minReadRate: number
}

/** Of an exchange that no listener has taken in. */
export const NO_PACE: ClientPace = { bodyBuffer: 0, bodyIdleMs: 0, minBodyRate: 0, minReadRate: 0 }
