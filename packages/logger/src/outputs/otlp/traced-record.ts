import type { RecordParts } from '../record-parts.js'

/** Record members that spans are made of. They are not checked. */
export interface TracedRecord extends RecordParts {
  readonly trace?: { readonly id?: unknown; readonly sampled?: unknown }
  readonly span?: { readonly id?: unknown }
  readonly parent?: { readonly id?: unknown }
  readonly http?: { readonly method?: unknown; readonly version?: unknown }
  readonly url?: {
    readonly scheme?: unknown
    readonly host?: unknown
    readonly port?: unknown
    readonly path?: unknown
    readonly query?: unknown
    readonly template?: unknown
  }
  readonly ua?: unknown
  readonly gw?: { readonly pod?: unknown; readonly worker?: unknown; readonly version?: unknown }
  readonly up?: TracedUpstream
  readonly t?: { readonly total?: unknown }
  readonly error?: { readonly code?: unknown; readonly policy?: unknown }
  readonly policy_spans?: readonly TracedPolicy[]
  readonly consumer?: { readonly id?: unknown }
}

/** The upstream attempts in a record. */
export interface TracedUpstream {
  readonly name?: unknown
  readonly addr?: unknown
  readonly path?: unknown
  readonly status?: unknown
  readonly attempts?: unknown
  /** Start of the last attempt after the arrival of the request, and its duration, in milliseconds. */
  readonly at?: unknown
  readonly ms?: unknown
  /** Attempts that failed. */
  readonly tries?: readonly TracedTry[]
}

/** A run of a policy's hook. */
export interface TracedPolicy {
  readonly id?: unknown
  readonly phase?: unknown
  readonly at?: unknown
  readonly ms?: unknown
  readonly out?: unknown
  readonly note?: unknown
}

/** A failed upstream attempt. */
export interface TracedTry {
  readonly addr?: unknown
  readonly at?: unknown
  readonly ms?: unknown
  readonly status?: unknown
  readonly code?: unknown
}
