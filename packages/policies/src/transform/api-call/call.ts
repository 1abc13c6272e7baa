import {
  type CallNote,
  type CompileEnv,
  type Counter,
  type Exchange,
  type Expression,
  type HttpAnswer,
  HttpCallFailed,
  type HttpClient,
  headerValue,
  type Outcome,
} from '@sluice/core'
import { hopField } from '../../shared/call/call-hops.js'
import type { Draft } from '../../shared/field-location/draft.js'
import type { Side } from '../../shared/message/side.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { type Address, BadInput, compileAddress } from './address.js'
import { CachedResponses, type SentCall } from './cached-responses.js'
import { type BuildCall, compileRequest } from './call-request.js'
import { compileErrorReply } from './error-reply.js'
import type { Inputs } from './inputs.js'
import type { OneWayQueue } from './one-way-queue.js'
import { compileSave, ParsedResponse, type SavedValue } from './saved-value.js'
import type { CallConfig } from './schema.js'
import { openServers } from './servers.js'

/** Outcome of a call. */
export interface CallResult {
  /** The response, or null if there is none. */
  readonly answer: HttpAnswer | null
  /** `ok`, `unexpected`, `queued`, `dropped`, or the kind of failure. */
  readonly result: string
}

/** Context shared by all calls of one use of the policy. */
export interface CallContext {
  readonly env: CompileEnv
  readonly policy: string
  readonly side: Side
  readonly inputs: Inputs
  readonly queue: OneWayQueue
}

/** A configured call. */
export class Call {
  readonly #config: CallConfig
  readonly #address: Address
  readonly #servers: ReadonlyMap<string, HttpClient>
  readonly #make: BuildCall
  readonly #answers: CachedResponses
  readonly #saves: readonly SavedValue[]
  readonly #isExpected: (answer: HttpAnswer) => boolean
  readonly #when: Expression | null
  readonly #onError: (x: Exchange, result: string) => Outcome
  readonly #queue: OneWayQueue
  readonly #counterOf: (result: string) => Counter
  readonly #report: (reason: string) => void

  /** @throws Error if the configuration of the call is invalid. */
  constructor(config: CallConfig, { env, policy, side, inputs, queue }: CallContext) {
    const { name, save = [], expect, oneWay } = config
    this.#config = config
    this.#address = compileAddress(config.url, inputs.variables)
    this.#servers = openServers(config, this.#address, env)
    this.#make = compileRequest(config, side, inputs.variables)
    this.#isExpected = statusCheck(expect.statuses)
    this.#answers = new CachedResponses(config, {
      env,
      use: [policy, inputs.texts],
      isExpected: this.#isExpected,
    })
    this.#saves = save.map((each) => compileSave(each, side))
    this.#when = expect.when === undefined ? null : env.expression(expect.when)
    this.#onError = compileErrorReply(config, inputs.variables, env)
    if (oneWay && (save.length > 0 || config.cache !== undefined || expect.when !== undefined))
      throw new Error("'oneWay' does not wait for a response; remove 'save', 'cache' and 'expect.when'")
    this.#queue = queue
    this.#counterOf = (result) => env.counter('gw_api_calls_total', { policy, call: name, result })
    this.#report = (reason) => env.report('api_call_failed', { policy, call: name, reason })
  }

  /** True if the call writes into the body of the message. */
  get changesBody(): boolean {
    return this.#saves.some(({ isInBody }) => isInBody)
  }

  get forwardsBody(): boolean {
    return this.#config.forwardBody
  }

  get expressions(): readonly Expression[] {
    return this.#when === null ? [] : [this.#when]
  }

  /**
   * Makes the call. Never rejects because a server failed. @throws Error for a bad request, such as an
   * unreadable body.
   */
  start(x: Exchange): CallResult | Promise<CallResult> {
    const sinceMono = performance.now()
    const sent = this.#callFor(x)
    if (typeof sent === 'string')
      return this.#note(x, sinceMono, { result: sent, answer: null, from: 'call' })
    const client = this.#servers.get(sent.origin)
    if (client === undefined) {
      this.#report(`the host of 'url' resolved to ${sent.origin}, which is not in 'origins'`)
      return this.#note(x, sinceMono, { result: 'input', answer: null, from: 'call' })
    }
    const call = { ...sent, headers: [...sent.headers, ...requestFields(x, sent.headers)] }
    if (this.#config.oneWay) return this.#enqueue(x, client, call)
    const found = this.#ask(x, sent, () => client.call(call))
    return whenSettled(found, (noted) => this.#note(x, sinceMono, noted))
  }

  /** Returns the call, or the result `input` if values of the request cannot be placed in the URL. */
  #callFor(x: Exchange): SentCall | string {
    try {
      const origin = this.#address.originFor(x)
      return { ...this.#make(x, this.#address.pathFor(x)), origin }
    } catch (error) {
      if (!(error instanceof BadInput)) throw error
      this.#report(error.message)
      return 'input'
    }
  }

  #ask(x: Exchange, sent: SentCall, ask: () => Promise<HttpAnswer>): Noted | Promise<Noted> {
    const noted = ({ answer, from }: Pick<Noted, 'from'> & { answer: HttpAnswer }): Noted => ({
      ...{ answer, from, result: this.#isExpected(answer) ? 'ok' : 'unexpected' },
    })
    const found = this.#answers.find(x, sent, ask)
    return found instanceof Promise
      ? found.then(noted, (error: unknown) => this.#failed(error))
      : noted(found)
  }

  #failed(error: unknown): Noted {
    if (!(error instanceof HttpCallFailed)) throw error
    this.#report(`${error.failure}: ${error.message}`)
    return { answer: null, from: 'call', result: error.failure }
  }

  #enqueue(x: Exchange, client: HttpClient, call: SentCall): CallResult {
    const sinceMono = performance.now()
    const isTaken = this.#queue.add(call.origin, client, call, (answer, error) => {
      if (answer !== null) this.#counterOf(this.#isExpected(answer) ? 'ok' : 'unexpected').value++
      else this.#counterOf(error instanceof HttpCallFailed ? error.failure : 'invalid').value++
    })
    const result = isTaken ? 'queued' : 'dropped'
    return this.#note(x, sinceMono, { answer: null, from: 'call', result })
  }

  #note(x: Exchange, sinceMono: number, { answer, from, result }: Noted): CallResult {
    const { name } = this.#config
    const ms = performance.now() - sinceMono
    x.record.noteCall({
      name,
      atMs: sinceMono - x.startedMono,
      ms,
      status: answer?.status ?? 0,
      result,
      from,
    })
    this.#counterOf(result).value++
    return { answer, result }
  }

  /**
   * Writes the saved values into the message. Returns a reply if the call failed and the request must not
   * continue.
   */
  settle(x: Exchange, draft: Draft, { answer, result }: CallResult): Outcome {
    if (result === 'queued' || result === 'dropped') return null
    const isAnswer = result === 'ok' && answer !== null
    const read = isAnswer ? new ParsedResponse(answer) : null
    let isWhole = isAnswer
    for (const save of this.#saves) if (!save.put(draft, read)) isWhole = false
    if (isWhole && this.#when !== null && this.#when.value(x) !== true) isWhole = false
    const said = isAnswer && !isWhole ? 'unexpected' : result
    x.setVar(`api-call.${this.#config.name}`, said)
    return isWhole ? null : this.#onError(x, said)
  }
}

interface Noted extends CallResult {
  readonly from: CallNote['from']
}

/**
 * Returns the tracing fields of the current request. They are not part of the cache key. Configured fields
 * take precedence.
 */
function requestFields(x: Exchange, written: readonly string[]): string[] {
  const fields: string[] = [...(hopField(x) ?? [])]
  const add = (name: string, value: string | null): void => {
    if (value !== null && headerValue(written, name) === null) fields.push(name, value)
  }
  add('x-request-id', x.id)
  add('traceparent', x.trace?.traceparent ?? headerValue(x.headers, 'traceparent'))
  return fields
}

function statusCheck(texts: readonly string[]): (answer: HttpAnswer) => boolean {
  const statuses = new Set<number>()
  for (const text of texts) {
    if (!text.endsWith('xx')) statuses.add(Number(text))
    else for (let i = 0; i < 100; i++) statuses.add(Number(text[0]) * 100 + i)
  }
  return ({ status }) => statuses.has(status)
}
