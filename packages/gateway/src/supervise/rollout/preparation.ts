/**
 * A prepared change of one part of the gateway besides its workers, such as the admin address. Call exactly one of
 * the methods.
 */
export interface PreparedChange {
  activate(): Promise<void>
  discard(): Promise<void>
}

/** A prepared change, or the reason why it is impossible. */
export type Preparation =
  | { readonly ok: true; readonly prepared: PreparedChange }
  | { readonly ok: false; readonly reason: string }

/** A server of the supervisor that takes part in rollouts like a worker. A plan may move it to another address. */
export interface Endpoint<P> {
  /** Base URL, or null while there is no server. */
  readonly url: string | null
  /** Prepares a plan beside the active one. */
  prepare(plan: P): Promise<Preparation>
  /** @param isReplaced true if the next version accepts connections. Open ones may then send one more request. */
  close(isReplaced?: boolean): Promise<void>
}

/** Returns a prepared change. */
export function prepared(
  activate: () => Promise<void>,
  discard: () => Promise<void> = async () => {},
): Preparation {
  return { ok: true, prepared: { activate, discard } }
}
