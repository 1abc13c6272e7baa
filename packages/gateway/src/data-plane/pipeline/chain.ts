import type { Exchange, RejectedAnswer } from '@sluice/core'
import type { Hook } from './hook.js'

/** A route's policies, sorted by the phase they act in. Null: nothing to do in that phase. */
export interface Chain {
  readonly request: readonly Hook[] | null
  /** Not null: the request body is collected first. */
  readonly requestBody: readonly Hook[] | null
  readonly attempt: readonly Hook[] | null
  /** Null: nobody has other credentials for a target that refuses a request. */
  readonly rejected: readonly RejectedHook[] | null
  readonly response: readonly Hook[] | null
  /** Not null: the body of the upstream's response is collected first. */
  readonly responseBody: readonly Hook[] | null
  readonly finish: readonly FinishHook[] | null
  /** What is run on an upstream's response where one part of it has to be through with the body before the other begins. */
  readonly layers: { readonly inner: ResponseHooks; readonly outer: ResponseHooks } | null
  /** For a request that is sent again for the step that keeps responses; null where no step does. */
  readonly refresh: Chain | null
}

/** The hooks of a response. */
export type ResponseHooks = Pick<Chain, 'response' | 'responseBody'>

export interface FinishHook {
  readonly name: string
  /** Position of the step in the route's chain. */
  readonly order: number
  run(x: Exchange): void
}

export interface RejectedHook {
  /** The policy, for logs. */
  readonly name: string
  /** Whether another attempt may do better. */
  run(x: Exchange, answer: RejectedAnswer): boolean
}

export const EMPTY_CHAIN: Chain = {
  request: null,
  requestBody: null,
  attempt: null,
  rejected: null,
  response: null,
  responseBody: null,
  finish: null,
  layers: null,
  refresh: null,
}
