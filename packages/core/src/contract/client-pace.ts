/** Minimum speed of clients, from the limits of the listener. */
export interface ClientPace {
  /** Bytes of the request body to buffer before the request takes an upstream connection. */
  readonly bodyBufferBytes: number
  /**
   * Maximum wait for the next bytes of the request body, in milliseconds. Also the time that a client may
   * stay below `minBodyRate`.
   */
  readonly bodyIdleMs: number
  /** Minimum upload rate of a request body in bytes per second. 0 disables the check. */
  readonly minBodyRate: number
  /**
   * Minimum rate at which a client must read a pending response, in bytes per second. 0 disables the check.
   */
  readonly minReadRate: number
}

/** Client limits of an exchange that did not arrive through a listener. */
export const NO_PACE: ClientPace = { bodyBufferBytes: 0, bodyIdleMs: 0, minBodyRate: 0, minReadRate: 0 }
