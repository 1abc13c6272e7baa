import type { Static, TSchema } from '@sinclair/typebox'
import type { BodyLanguages } from './body-language.js'
import type { CacheStore } from './cache-store.js'
import type { ErrorCode } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Expression } from './expression.js'
import type { HttpClient, HttpClientOptions } from './http-client.js'
import type { Offload } from './offload.js'
import type { Eventual, Reply } from './reply.js'
import type { StateStores } from './state.js'

/**
 * One compiled policy in a route's chain. A hook that is absent costs nothing; a hook returns a Reply to end the
 * exchange there, null to go on. Hooks that do not wait must not return a promise.
 */
export interface Step {
  readonly name: string
  /**
   * It keeps responses and answers with them. On the way back the steps listed behind it come before it, so that it keeps
   * what they have made, and those listed before it come after it, so that it keeps nothing of what they make for one client.
   */
  readonly keepsResponses?: boolean
  /**
   * Its onRequestBody decides who may pass: of the steps listed behind it none does anything before that, so that no answer,
   * no call and nothing that is kept comes before the decision.
   */
  readonly decidesOnBody?: boolean
  onRequest?(x: Exchange): Eventual
  /**
   * Declaring it makes the gateway collect the request body first, up to `x.bodyLimit` bytes. A step that changes the
   * body puts another one in the place of `x.body`.
   */
  onRequestBody?(x: Exchange, body: Uint8Array): Eventual
  /** Runs before each upstream attempt: backend authentication, signing. */
  onAttempt?(x: Exchange): Eventual
  /**
   * The target has answered an attempt with 4xx. True: another one may do better, with fresh credentials for example. The
   * gateway makes one such attempt for a request, if the body is still at hand; the answer is for nobody then.
   */
  onRejected?(x: Exchange, answer: RejectedAnswer): boolean
  /** The response head is in `x.status` and `x.responseHeaders`. */
  onResponse?(x: Exchange): Eventual
  /**
   * Declaring it makes the gateway ask the upstream for a response without content coding, and collect its body first,
   * up to `x.responseBodyLimit` bytes. A step that changes the body puts another one in the place of `x.responseBody`.
   */
  onResponseBody?(x: Exchange, body: Uint8Array): Eventual
  /** Every outcome, exactly once, after the last byte. Must not throw. */
  onFinish?(x: Exchange): void
}

/** The head of an answer by which a target refuses a request. */
export interface RejectedAnswer {
  /** 400 to 499. */
  readonly status: number
  /** Flat list of lower-case names and values. */
  readonly fields: readonly string[]
}

/** A typed place for a value per exchange, which belongs to one compiled step. */
export interface Slot<T> {
  get(x: Exchange): T | undefined
  set(x: Exchange, value: T): void
}

/** A number that only grows; shown at /metrics. */
export interface Counter {
  value: number
}

/** Which use of a policy is compiled. */
export interface PolicyIdentity {
  /** As the document names it, else the route and the place in it. */
  readonly id: string
}

/** What a policy can reach while it is compiled; nothing of it is reachable while requests run. */
export interface CompileEnv {
  /** What workers and replicas share. Stores can be kept, and asked while requests run. */
  readonly state: StateStores
  /** Where policies keep values for a while. It can be kept, and asked while requests run. */
  readonly cache: CacheStore
  /**
   * An expression of the condition language that gives a text, a number or a truth value; it knows `route` and `api` too.
   * @throws Error that says what is wrong with it.
   */
  expression(text: string): Expression
  /**
   * A counter of the worker, the same for the same name and labels, which outlives reloads. The family has to stand in the
   * metrics reference.
   */
  counter(family: string, labels: Readonly<Record<string, string>>): Counter
  /** A fresh place for a value per exchange. */
  slot<T>(): Slot<T>
  /** State that outlives reloads for as long as some snapshot uses it; created once per worker and key. */
  shared<T>(key: string, create: () => T): T
  /** A refusal, built once. */
  refusal(code: ErrorCode, detail: string, headers?: readonly string[]): Reply
  /**
   * Work for bodies that would hold up the requests of others: on a thread of the worker's pool.
   * @param module exports `work`, an OffloadedWork, which is made once per thread and configuration.
   * @param config can be cloned (structuredClone).
   * @param maxMs after which work that still runs is ended with its thread (Overtime); less than the pool's own limit.
   */
  offload<I, O>(module: URL, config: unknown, maxMs?: number): Offload<I, O>
  /**
   * Sends the request of an exchange once more, through the steps listed behind the one that keeps responses, and through
   * its own response hooks; nobody gets the response. False: too many are under way, or the gateway ends.
   * @param prepare gets the exchange of that request before it goes out.
   */
  refresh(x: Exchange, prepare: (copy: Exchange) => void): boolean
  /**
   * A client for calls to another server, with connections that outlive reloads.
   * @throws Error for an origin that is none, or a file that cannot be read.
   */
  httpClient(options: HttpClientOptions): HttpClient
  /** Background work every `everyMs` while the snapshot lives; the timer holds no process open. */
  schedule(everyMs: number, job: () => Promise<void> | void): void
  /** Shows the operator; a flood of one event is cut by whoever writes it down. */
  report(event: string, fields: Readonly<Record<string, unknown>>): void
  /**
   * Tells the operator what has become wrong since the document was written, such as a file that is out of date. A worker
   * goes on, because one that is replaced has to serve what the others serve.
   * @throws Error where policies are only tried, so that `gw validate` refuses the document.
   */
  reportOutdated(event: string, problem: string): void
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
  /** Each use of it is compiled by itself, however equal they are: it counts by its id. Default: equal uses share a step. */
  readonly isPerUse?: boolean
  /** What it costs a request; default `cheap`. `gw explain` shows it. */
  readonly cost?: PolicyCost
  /**
   * Its steps answer preflights (Fetch, 4.8): they stand first in every chain, they take no condition, and a preflight goes
   * to the route that would get the request it asks for.
   */
  readonly answersPreflights?: true
  /** When it names the consumer under this configuration, see `x.identify`; absent or null: it does not. */
  authenticates?(config: Static<S>): ConsumerPhase | null
  /** When it asks for the consumer and refuses where there is none; a policy that names one has to stand before it. */
  needsConsumer?(config: Static<S>): ConsumerPhase | null
  /**
   * From where it takes certificates of clients under this configuration: from their connections, or from the field in which
   * a trusted proxy forwards them. A listener has to provide them. Absent or null: it takes none.
   */
  clientCertificates?(config: Static<S>): 'connection' | 'forwarded' | null
  /**
   * Paths that it answers itself under this configuration, in which values may still be references: a route that it is used
   * on has to match them.
   */
  answersPaths?(config: Static<S>): readonly string[]
  /** What is allowed under this configuration and seldom meant; values in it may still be references. */
  warnings?(config: Static<S>): readonly PolicyWarning[]
  /** Whether it must not be used without a condition under this configuration: it would do harm to every request. */
  needsCondition?(config: Static<S>): boolean
  /** Header fields and query parameters that carry secrets under this configuration; the traffic log masks them. */
  secretNames?(config: Static<S>): readonly string[]
  compile(config: Static<S>, env: CompileEnv, use?: PolicyIdentity): Step | null | Promise<Step | null>
}

/** What `gw validate` warns of: what is doubtful, and what to do about it. */
export interface PolicyWarning {
  readonly message: string
  readonly remedy: string
}

/**
 * `cheap`: less than a tenth of what the gateway needs for a request. `cpu`: grows with the body, or is a signature.
 * `io`: waits for another server.
 */
export type PolicyCost = 'cheap' | 'cpu' | 'io'

/** When a consumer is known: with the head of a request, or once its body is there. */
export type ConsumerPhase = 'request' | 'body'

/** What a policy added to a request where it was measured, in microseconds of CPU time. */
export interface MeasuredCost {
  readonly addedMicros: number
  /** What the same request took without it. */
  readonly requestMicros: number
  /** Which request that was: `GET`, `POST 1 KB`. */
  readonly request: string
}

/** Declares a policy with its configuration type derived from the schema. */
export function definePolicy<S extends TSchema>(policy: Policy<S>): Policy<S> {
  return policy
}

/** The policies a gateway knows, by name, and how its conditions ask bodies for values. */
export interface Catalog extends ReadonlyMap<string, Policy> {
  /** Brings in those of these names. Absent: all are there. */
  load?(isWanted: (name: string) => boolean): Promise<void>
  /** Absent: conditions know no bodies. */
  readonly bodies?: BodyLanguages
  /** The module that asks large bodies on a thread: an OffloadedWork of questions, from BodyInput to BodyAnswer[]. */
  readonly bodyWork?: URL
  /** What policies cost, by name, for `gw explain`. */
  readonly measured?: ReadonlyMap<string, MeasuredCost>
  /** What the configuration of a policy means, in sentences without a subject (`lets in who …`), by its name, for `gw explain`. */
  readonly meanings?: ReadonlyMap<string, (config: never) => readonly string[]>
  /** Options of Node.js that a worker has to be started with for them. */
  readonly nodeOptions?: readonly string[]
}
