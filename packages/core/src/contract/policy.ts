import type { Static, TSchema } from '@sinclair/typebox'
import type { BodyLanguages } from './body-language.js'
import type { CacheStore } from './cache-store.js'
import { type Configured, withDefaults } from './configured.js'
import type { ErrorCode } from './errors.js'
import type { Exchange } from './exchange.js'
import type { HttpClient, HttpClientOptions } from './http-client.js'
import type { Offload } from './offload.js'
import type { Eventual, Reply } from './reply.js'
import type { StateStores } from './state.js'

/**
 * A compiled policy in a route's chain. Hooks that are absent cost nothing. A hook returns a `Reply` to end
 * the exchange, or null to continue. A hook that does not wait must not return a promise.
 */
export interface Step {
  readonly name: string
  /**
   * True if the step stores responses and answers requests with them. For responses, the steps listed after
   * it run before it, so it stores their result. The steps listed before it run after it, so changes for a
   * single client are not stored.
   */
  readonly keepsResponses?: boolean
  /**
   * True if `onRequestBody` decides whether the request is allowed. Steps listed after it do not run before
   * that decision, so they cannot answer, call another server or store anything for a refused request.
   */
  readonly decidesOnBody?: boolean
  onRequest?(x: Exchange): Eventual
  /**
   * Called with the complete request body. Declaring this hook makes the gateway buffer the body, up to
   * `x.bodyLimit` bytes. To change the body, assign a new one to `x.body`.
   */
  onRequestBody?(x: Exchange, body: Uint8Array): Eventual
  /** Called before each upstream attempt, for example for backend authentication or signing. */
  onAttempt?(x: Exchange): Eventual
  /**
   * Called when a target answers an attempt with a 4xx status. Return true if another attempt may succeed,
   * for example with fresh credentials. The gateway then discards the response and retries once per request,
   * if the body can be replayed.
   */
  onRejected?(x: Exchange, answer: RejectedAnswer): boolean
  /** Called with the response head in `x.status` and `x.responseHeaders`. */
  onResponse?(x: Exchange): Eventual
  /**
   * Called with the complete response body. Declaring this hook makes the gateway request an uncompressed
   * response and buffer it, up to `x.responseBodyLimit` bytes. To change the body, assign a new one to
   * `x.responseBody`.
   */
  onResponseBody?(x: Exchange, body: Uint8Array): Eventual
  /** Called exactly once per exchange after the last byte, whatever the outcome. Must not throw. */
  onFinish?(x: Exchange): void
}

/** Head of a response with which a target rejected a request. */
export interface RejectedAnswer {
  /** Status from 400 to 499. */
  readonly status: number
  /** Flat list of lower-case names and values. */
  readonly fields: readonly string[]
}

/** Typed storage for one value per exchange. Each slot belongs to one compiled step. */
export interface Slot<T> {
  get(x: Exchange): T | undefined
  set(x: Exchange, value: T): void
}

/** Monotonically increasing counter, exported at /metrics. */
export interface Counter {
  value: number
}

/** Identifies one use of a policy in the configuration. */
export interface PolicyIdentity {
  /** Name from the configuration, or else the route and the position in its chain. */
  readonly id: string
}

/**
 * Services of the gateway for a policy. Create counters, slots, clients and shared state in `compile`, and keep
 * them for the hooks.
 */
export interface CompileEnv {
  /** Stores shared by workers and replicas. */
  readonly state: StateStores
  /** Cache for values of policies. */
  readonly cache: CacheStore
  /**
   * Compiles an expression of the condition language that returns a string, number or boolean. `route` and
   * `api` are available in it.
   * @throws Error with the reason if the expression is invalid.
   */
  expression(text: string): Expression
  /**
   * Returns a counter of the worker. The same name and labels always give the same counter, which survives
   * reloads. The family must be listed in the metrics reference.
   */
  counter(family: string, labels: Readonly<Record<string, string>>): Counter
  /** Creates storage for one value per exchange. */
  slot<T>(): Slot<T>
  /**
   * Returns state that survives reloads. It is created once per worker and key, and lives as long as a
   * snapshot uses it.
   */
  shared<T>(key: string, create: () => T): T
  /** Builds a refusal. If its text is constant, build it in `compile` and reuse it. */
  refusal(code: ErrorCode, detail: string, headers?: readonly string[]): Reply
  /**
   * Runs work on the worker's thread pool. Use it for bodies whose processing would block other requests.
   * @param module Module that exports `work`, an `OffloadedWork`. It is instantiated once per thread and
   * configuration.
   * @param config Structured-cloneable configuration.
   * @param maxMs Time limit in milliseconds, shorter than that of the pool. When it expires, the thread is
   * terminated and the call rejects with `Overtime`.
   */
  offload<I, O>(module: URL, config: unknown, maxMs?: number): Offload<I, O>
  /**
   * Sends the request of an exchange again in the background, to refresh a stored response. It passes through
   * the steps listed after the one that keeps responses, and through that step's response hooks. The response
   * goes to no client.
   * @param prepare Called with the new exchange before it is sent.
   * @returns False if too many refreshes are in progress or the gateway is shutting down.
   */
  refresh(x: Exchange, prepare: (copy: Exchange) => void): boolean
  /**
   * Creates a client for calls to another server. Its connections survive reloads.
   * @throws Error if the origin is invalid or a file cannot be read.
   */
  httpClient(options: HttpClientOptions): HttpClient
  /**
   * Runs background work every `everyMs` milliseconds while the snapshot is active. The timer does not keep
   * the process alive.
   */
  schedule(everyMs: number, job: () => Promise<void> | void): void
  /** Logs an event for the operator. Repeated events are rate-limited by the log. */
  report(event: string, fields: Readonly<Record<string, unknown>>): void
  /**
   * Reports a problem that arose after the configuration was written, such as an outdated file. A worker
   * continues, because a replacement worker must serve the same configuration as the others.
   * @throws Error during validation, so that `gw validate` rejects the configuration.
   */
  reportOutdated(event: string, problem: string): void
  /** Registers a function that runs when the snapshot has been replaced and its last request has ended. */
  onClose(close: () => void): void
}

/**
 * A kind of policy. `compile` does all the work that does not depend on a request. It returns the hooks, or
 * null if the configuration makes the policy do nothing. Options with `secret: true` in the schema are never
 * shown.
 * @throws Error from `compile` if the configuration has a problem that the schema cannot express. The
 * operator sees the text.
 */
export interface Policy<S extends TSchema = TSchema, C = Static<S>> {
  /** Name for `use:`, in kebab-case. */
  readonly name: string
  /** Description in one sentence, for the reference. */
  readonly summary: string
  readonly schema: S
  /**
   * True if every use is compiled separately, even with equal configuration, because it counts by its ID. By
   * default, equal uses share a step.
   */
  readonly isPerUse?: boolean
  /** Cost per request, shown by `gw explain`; default `cheap`. */
  readonly cost?: PolicyCost
  /**
   * True if the policy answers CORS preflights (Fetch section 4.8). Its steps run first in every chain and
   * cannot have a condition. A preflight is routed like the request that it announces.
   */
  readonly answersPreflights?: true
  /**
   * Returns the phase in which the policy identifies the consumer (see `x.identify`) with this configuration.
   * Absent or null: it does not.
   */
  authenticates?(config: C): ConsumerPhase | null
  /**
   * Returns the phase in which the policy requires a consumer and refuses anonymous requests. A policy that
   * identifies the consumer must come before it in the chain.
   */
  needsConsumer?(config: C): ConsumerPhase | null
  /**
   * Returns the source of client certificates with this configuration: the client's connection, or a field
   * that a trusted proxy adds. The listener must provide them. Absent or null: the policy uses none.
   */
  clientCertificates?(config: C): 'connection' | 'forwarded' | null
  /**
   * Returns the paths that the policy answers itself with this configuration. A route that uses the policy
   * must match them. Values in `config` may still be unresolved references.
   */
  answersPaths?(config: C): readonly string[]
  /**
   * Returns the kind of decision that the policy makes about requests with this configuration, for `gw lint`.
   * Not needed if `authenticates` or `needsConsumer` implies it. Absent or null: it makes none.
   */
  decides?(config: C): PolicyDecision | null
  /**
   * Returns warnings for valid configuration that is rarely intended. Values in `config` may still be
   * unresolved references.
   */
  warnings?(config: C): readonly PolicyWarning[]
  /**
   * Returns true if the policy must have a condition with this configuration, because it would harm every
   * request.
   */
  needsCondition?(config: C): boolean
  /**
   * Returns the header fields and query parameters that carry secrets with this configuration. The traffic
   * log masks them.
   */
  secretNames?(config: C): readonly string[]
  compile(config: C, env: CompileEnv, use?: PolicyIdentity): Step | null | Promise<Step | null>
}

/**
 * Kind of decision about requests. `access`: only permitted callers pass. `limit`: refuses requests by their head
 * alone, at little cost. `answer`: answers every request, so no later policy and no upstream receives it.
 */
export type PolicyDecision = 'access' | 'limit' | 'answer'

/** A warning of `gw validate`, with a remedy. */
export interface PolicyWarning {
  /** Rule of `gw lint` that reports it; default `policy-settings`. */
  readonly rule?: string
  readonly message: string
  readonly remedy: string
}

/**
 * CPU or waiting cost of a policy. `cheap`: less than a tenth of the gateway's cost per request. `cpu`: grows
 * with the body size, or computes a signature. `io`: waits for another server.
 */
export type PolicyCost = 'cheap' | 'cpu' | 'io'

/** Phase in which a consumer is known: after the request head, or after the body. */
export type ConsumerPhase = 'request' | 'body'

/** Measured cost of a policy in microseconds of CPU time. */
export interface MeasuredCost {
  readonly addedMicros: number
  /** CPU time of the same request without the policy, in microseconds. */
  readonly requestMicros: number
  /** The measured request, such as `GET` or `POST 1 KB`. */
  readonly request: string
}

/** Functions of a policy that get its configuration. */
const CONFIGURED = [
  ...(['authenticates', 'needsConsumer', 'clientCertificates', 'answersPaths', 'warnings'] as const),
  ...(['decides', 'needsCondition', 'secretNames', 'compile'] as const),
]

/**
 * Declares a policy. The type of its configuration is derived from the schema. Its functions get a configuration
 * in which options with a default are present.
 */
export function definePolicy<S extends TSchema>(policy: Policy<S, Configured<S>>): Policy<S> {
  const defined: Record<string, unknown> = { ...policy }
  for (const name of CONFIGURED) {
    const call = policy[name] as ((config: unknown, ...rest: unknown[]) => unknown) | undefined
    if (call === undefined) continue
    defined[name] = (config: unknown, ...rest: unknown[]) =>
      call.call(policy, withDefaults(policy.schema, config), ...rest)
  }
  return defined as unknown as Policy<S>
}

/** Policies that a gateway supports, by name, and its query languages for bodies. */
export interface Catalog extends ReadonlyMap<string, Policy> {
  /** Loads the policies with the wanted names. Absent if all policies are loaded. */
  load?(isWanted: (name: string) => boolean): Promise<void>
  /** Absent if conditions cannot read bodies. */
  readonly bodies?: BodyLanguages
  /**
   * Module that evaluates body queries on a thread, for large bodies. An `OffloadedWork` from `BodyInput` to
   * `BodyAnswer[]`.
   */
  readonly bodyWork?: URL
  /** Measured costs by policy name, for `gw explain`. */
  readonly measured?: ReadonlyMap<string, MeasuredCost>
  /**
   * Functions that describe a policy's configuration, by policy name, for `gw explain`. Each returns verb
   * phrases such as `allows …`.
   */
  readonly meanings?: ReadonlyMap<string, (config: never) => readonly string[]>
  /** Node.js options that workers need for these policies. */
  readonly nodeOptions?: readonly string[]
}

/** Value of an expression, or null if the value it refers to is missing. */
export type ExpressionValue = string | number | boolean | null

/**
 * Compiled expression of the condition language, used for example as the key of a limit or the cost of a
 * request.
 */
export interface Expression {
  /** True if the expression needs the response head. */
  readonly readsResponse: boolean
  /** True if the expression needs the complete request body. */
  readonly readsBody: boolean
  /**
   * Evaluates the expression.
   * @throws Error if it cannot be evaluated with the values of this exchange. `isOutOfRange` is true if a
   * number is too large.
   * @throws UnreadableBody if the body is not valid JSON or XML, as the expression requires.
   */
  value(x: Exchange): ExpressionValue
}
