/** WebSocket settings of a route. */
export interface WebSocketPlan {
  readonly idleMs: number
  /** Maximum message size in bytes. */
  readonly maxMessageBytes: number
  /** Maximum number of messages per second; null: no limit. */
  readonly rate: number | null
  readonly compression: 'pass' | 'refuse'
}
