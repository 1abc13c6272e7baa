import type { MemberMessage, MemberState } from '../protocol/messages.js'

/** A bundle on the gateway's disk, and the deploy that it belongs to. */
export interface PlacedBundle {
  readonly deploy: number
  readonly digest: string
  /** Path of the document. Its relative paths start in the folder of the bundle. */
  readonly documentPath: string
  readonly note: string
  readonly actor: string
  /**
   * Makes the bundle the one that the next start serves. The gateway calls it once, right before it activates the
   * bundle. @throws Error of the file system; the gateway then keeps its configuration
   */
  commit(): void
}

/** Answer to a prepared bundle. */
export type Vote = Pick<Extract<MemberMessage, { readonly type: 'vote' }>, 'vote' | 'reasons'>

/** Result of an activation. */
export type Outcome = Pick<Extract<MemberMessage, { readonly type: 'outcome' }>, 'outcome' | 'reasons'>

/** State of a gateway without what the client knows itself. */
export type GatewayState = Omit<MemberState, 'digest' | 'deploy' | 'at'>

/** A gateway whose configuration comes from a controller. No method rejects. */
export interface ManagedGateway {
  /** Prepares a bundle beside the active one and holds it. It is discarded if no decision arrives within `holdMs`. */
  prepare(bundle: PlacedBundle, holdMs: number): Promise<Vote>
  /** Activates the bundle of a deploy that was prepared or found unchanged. */
  activate(deploy: number): Promise<Outcome>
  /** Discards the bundle of a deploy, even while it is being prepared. */
  discard(deploy: number): Promise<void>
  /** Prepares and activates a bundle. */
  serve(bundle: PlacedBundle): Promise<Outcome>
  state(): Promise<GatewayState>
}
