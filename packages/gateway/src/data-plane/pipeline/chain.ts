import type { Exchange } from '@sluice/core'
import type { Hook } from './hook.js'

/** A route's policies, sorted by the phase they act in. Null: nothing to do in that phase. */
export interface Chain {
  readonly request: readonly Hook[] | null
  /** Not null: the request body is collected first. */
  readonly requestBody: readonly Hook[] | null
  readonly attempt: readonly Hook[] | null
  readonly response: readonly Hook[] | null
  /** Not null: the body of the upstream's response is collected first. */
  readonly responseBody: readonly Hook[] | null
  readonly finish: readonly FinishHook[] | null
}

export interface FinishHook {
  readonly name: string
  run(x: Exchange): void
}

export const EMPTY_CHAIN: Chain = {
  request: null,
  requestBody: null,
  attempt: null,
  response: null,
  responseBody: null,
  finish: null,
}
