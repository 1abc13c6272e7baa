/** What a route lets WebSockets do. */
export interface WebSocketPlan {
  readonly idleMs: number
  /** Bytes. */
  readonly maxMessage: number
  /** Messages a second; null: any number. */
  readonly rate: number | null
  readonly compression: 'pass' | 'refuse'
}
