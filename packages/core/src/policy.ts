import type { Static, TSchema } from '@sinclair/typebox'
import type { ErrorCode } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Eventual, Reply } from './reply.js'

/**
 * One compiled policy in a route's chain. A hook that is absent costs nothing; a hook returns a Reply to end the
 * exchange there, null to go on. Hooks that do not wait must not return a promise.
 */
export interface Step {
  readonly name: string
  onRequest?(x: Exchange): Eventual
  /** Declaring it makes the gateway collect the request body first, up to `x.bodyLimit` bytes. */
  onRequestBody?(x: Exchange, body: Uint8Array): Eventual
  /** Runs before each upstream attempt: backend authentication, signing. */
  onAttempt?(x: Exchange): Eventual
  /** The response head is in `x.status` and `x.responseHeaders`. */
  onResponse?(x: Exchange): Eventual
  /** Every outcome, exactly once, after the last byte. Must not throw. */
  onFinish?(x: Exchange): void
}

/** A typed place for a value per exchange, which belongs to one compiled step. */
export interface Slot<T> {
  get(x: Exchange): T | undefined
  set(x: Exchange, value: T): void
}

/** What a policy can reach while it is compiled; nothing of it is reachable while requests run. */
export interface CompileEnv {
  /** A fresh place for a value per exchange. */
  slot<T>(): Slot<T>
  /** State that outlives reloads for as long as some snapshot uses it; created once per worker and key. */
  shared<T>(key: string, create: () => T): T
  /** A refusal, built once. */
  refusal(code: ErrorCode, detail: string, headers?: readonly string[]): Reply
  /** Background work every `everyMs` while the snapshot lives; the timer holds no process open. */
  schedule(everyMs: number, job: () => Promise<void> | void): void
  /** Runs when the snapshot has been replaced and its last request has ended. */
  onClose(close: () => void): void
}

/**
 * A kind of policy. `compile` does all the work that does not need a request and returns the hooks it needs, or null
 * when the configuration makes it do nothing. String options whose schema says `secret: true` are never shown.
 * @throws Error from `compile` for a configuration that the schema cannot refuse; the text is shown to the operator.
 */
export interface Policy<S extends TSchema = TSchema> {
  /** The name in `use:`, kebab-case. */
  readonly name: string
  /** One sentence for the reference. */
  readonly summary: string
  readonly schema: S
  /** Header fields and query parameters that carry secrets under this configuration; the traffic log masks them. */
  secretNames?(config: Static<S>): readonly string[]
  compile(config: Static<S>, env: CompileEnv): Step | null | Promise<Step | null>
}

/** Declares a policy with its configuration type derived from the schema. */
export function definePolicy<S extends TSchema>(policy: Policy<S>): Policy<S> {
  return policy
}

/** The policies a gateway knows, by name. */
export type Catalog = ReadonlyMap<string, Policy>
