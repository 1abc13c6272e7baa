import {
  appendHeader,
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  HttpCallFailed,
  type HttpClient,
  type Outcome,
  parseSize,
  type Reply,
  type Slot,
  type Step,
  setHeader,
} from '@sluice/core'
import { reasonOf } from '../../shared/call/call-options.js'
import { openEndpoint } from '../../shared/call/endpoint.js'
import { fieldName } from '../../shared/message/field-name.js'
import { SpoofedFields } from '../../shared/message/spoofed-fields.js'
import { type BuildCall, compileCall } from './authorization-call.js'
import { compileReader, type Decision, NoDecision } from './decision.js'
import { DecisionCache } from './decision-cache.js'
import { type ForwardAuthConfig, forwardAuthSchema } from './schema.js'

const VARIABLE = 'forward-auth'

/** Asks an external authorization server about each request. */
export const forwardAuth = definePolicy({
  name: 'forward-auth',
  summary: 'Asks your authorization server about each request, and passes its refusals on to the client.',
  schema: forwardAuthSchema,
  cost: 'io',
  decides: () => 'access',
  authenticates: ({ consumer, withBody }) => (consumer === undefined ? null : withBody ? 'body' : 'request'),
  compile(config, env): Step {
    const gate = new Gate(config, env)
    const passesFields = config.clientHeaders.length > 0
    return {
      name: 'forward-auth',
      ...(config.withBody
        ? { decidesOnBody: true, onRequestBody: (x: Exchange, body: Uint8Array) => gate.admit(x, body) }
        : { onRequest: (x: Exchange) => gate.admit(x, null) }),
      ...(passesFields && { onResponse: (x: Exchange) => gate.passFields(x) }),
    }
  },
})

/** Returns the fields set by the authorization server, which clients must not be able to set. */
function ownFieldsOf({ upstreamHeaders, consumer }: ForwardAuthConfig): string[] {
  const names = [...upstreamHeaders, ...Object.values(consumer ?? {})]
  return names.map((name) => fieldName('request', name))
}

/** Asks the server about requests and applies its decisions. */
class Gate {
  readonly #ask: BuildCall
  readonly #cache: DecisionCache
  readonly #client: HttpClient
  readonly #spoofed: SpoofedFields
  readonly #isOpen: boolean
  readonly #unavailable: Reply
  readonly #clientFields: Slot<readonly string[]>
  readonly #report: (reason: string) => void

  constructor(config: ForwardAuthConfig, env: CompileEnv) {
    const maxResponseBytes = parseSize(config.maxResponseBytes)
    const { origin, path, client } = openEndpoint({ ...config, maxResponseBytes }, env)
    this.#ask = compileCall(config, path)
    this.#cache = new DecisionCache(config, env, compileReader(config))
    this.#client = client
    this.#spoofed = new SpoofedFields(ownFieldsOf(config))
    this.#isOpen = config.onFailure === 'allow'
    const detail = 'the authorization server is not available; try again'
    this.#unavailable = env.refusal('GW_AUTH_UNAVAILABLE', detail, ['retry-after', '1'])
    this.#clientFields = env.slot()
    this.#report = (reason) => env.report('forward_auth_failed', { server: origin, reason })
  }

  admit(x: Exchange, body: Uint8Array | null): Eventual {
    const call = this.#ask(x, body)
    this.#spoofed.removeFrom(x.headers)
    if ('status' in call) return call
    const decided = this.#cache.decide(x, call, () => this.#client.call(call))
    if (!(decided instanceof Promise)) return this.#obey(x, decided)
    return decided.then(
      (decision) => this.#obey(x, decision),
      (error: unknown) => this.#fail(x, error),
    )
  }

  #obey(x: Exchange, { refusal, upstreamFields, clientFields, consumer }: Decision): Outcome {
    if (refusal !== null) {
      x.record.reason = `the server responded with ${refusal.status}`
      return refusal
    }
    for (let i = 0; i < upstreamFields.length; i += 2)
      appendHeader(x.headers, upstreamFields[i]!, upstreamFields[i + 1]!)
    if (clientFields.length > 0) this.#clientFields.set(x, clientFields)
    if (consumer !== null) x.identify(consumer)
    return null
  }

  /** Handles a failure of the server. @throws any other error. */
  #fail(x: Exchange, error: unknown): Outcome {
    if (!(error instanceof HttpCallFailed) && !(error instanceof NoDecision)) throw error
    const reason = reasonOf(error)
    this.#report(reason)
    if (this.#isOpen) {
      x.setVar(VARIABLE, 'unavailable')
      return null
    }
    x.record.reason = reason
    return this.#unavailable
  }

  passFields(x: Exchange): null {
    const fields = this.#clientFields.get(x) ?? []
    for (let i = 0; i < fields.length; i += 2) {
      const put = fields[i] === 'set-cookie' ? appendHeader : setHeader
      put(x.responseHeaders, fields[i]!, fields[i + 1]!)
    }
    return null
  }
}
