import type { Exchange, RejectedAnswer } from '@sluice/core'
import type { Hook } from './hook.js'

/** A route's policies, by the phase in which they run. Null for a phase without policies. */
export interface Chain {
  readonly request: readonly Hook[] | null
  /** Hooks that need the request body. If there are any, the body is collected first. */
  readonly requestBody: readonly Hook[] | null
  readonly attempt: readonly Hook[] | null
  /** Hooks that can supply other credentials after a target has rejected a request. */
  readonly rejected: readonly RejectedHook[] | null
  readonly response: readonly Hook[] | null
  /** Hooks that need the response body. If there are any, the body is collected first. */
  readonly responseBody: readonly Hook[] | null
  readonly finish: readonly FinishHook[] | null
  /** Hooks of a response in two layers, if the inner ones must finish with the body before the outer ones begin. */
  readonly layers: { readonly inner: ResponseHooks; readonly outer: ResponseHooks } | null
  /** Chain for background refreshes of stored responses; null if no step stores responses. */
  readonly refresh: Chain | null
}

/** The hooks of a response. */
export type ResponseHooks = Pick<Chain, 'response' | 'responseBody'>

/** A hook that runs after the exchange. */
export interface FinishHook {
  readonly name: string
  /** Position of the step in the route's chain. */
  readonly order: number
  run(x: Exchange): void
}

/** A hook that runs when a target has rejected the request. */
export interface RejectedHook {
  /** Policy name, for logs. */
  readonly name: string
  /** Returns true if another attempt may succeed. */
  run(x: Exchange, answer: RejectedAnswer): boolean
}

/** Chain of a route without policies. */
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
