import type { MockedUpstream } from './mocked-upstreams.js'
import type { RequestRow } from './request-row.js'

/** Addresses of a gateway in development, and its mocks. */
export interface Serving {
  readonly gateway: string
  readonly dashboard: string | null
  readonly mocks: readonly MockedUpstream[]
}

/** An event of `gw dev`. */
export type DevEvent =
  | ({ readonly kind: 'started' } & Serving)
  | { readonly kind: 'request'; readonly row: RequestRow }
  /** Errors of the document. `isServing`: the previous document is still active. */
  | { readonly kind: 'mistakes'; readonly lines: readonly string[]; readonly isServing: boolean }
  /** The document was applied, or is equal to the active one again. */
  | ({ readonly kind: 'applied'; readonly changes: number; readonly warnings: readonly string[] } & Serving)
  | { readonly kind: 'message'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }

/** A view of the events: lines, JSON or a screen. */
export interface DevView {
  show(event: DevEvent): void
  close(): void
}
