import {
  answer,
  type CompileEnv,
  type Eventual,
  type Exchange,
  hasContentCoding,
  headerJoined,
  OFFLOAD_BYTES,
  type Offload,
  PolicyFailure,
  type Reply,
  refusal,
  type Step,
} from '@sluice/core'
import { BODY_REFUSALS } from '../../engines/json/refusals.js'
import type { HookName, ScriptFault } from '../../engines/script/engine.js'
import { codingIssue } from '../../shared/json/coding.js'
import { isBodiless, limitBody } from '../../shared/message/side.js'
import { onOverload } from '../../shared/outcome/overload.js'
import { applyChanges } from './apply.js'
import { changesOf } from './changes.js'
import { callInputs, type InputOptions } from './input.js'
import type { CallInputs, CallResult, ScriptRunner } from './runner.js'
import type { ScriptSettings } from './settings.js'

const UNDECLARED = {
  onRequest: 'the request body is not declared: set body: request',
  onResponse: 'the response body is missing or not declared: set body: response',
} as const

const overloaded = onOverload(BODY_REFUSALS.overloaded)

/** Creates the step for an open script. */
export function scriptStep(runner: ScriptRunner, settings: ScriptSettings, env: CompileEnv): Step {
  return new ScriptStep(runner, settings, env).step()
}

class ScriptStep {
  readonly #runner: ScriptRunner
  readonly #settings: ScriptSettings
  readonly #env: CompileEnv
  readonly #offload: Offload<CallInputs, CallResult>
  readonly #codedRequest: Reply
  readonly #codedResponse: Reply

  constructor(runner: ScriptRunner, settings: ScriptSettings, env: CompileEnv) {
    this.#runner = runner
    this.#settings = settings
    this.#env = env
    this.#offload = env.offload(new URL('./script-work.js', import.meta.url), settings)
    const sentence = 'a policy cannot read the body because of its content coding or charset'
    this.#codedRequest = env.refusal(
      'GW_MEDIA_TYPE',
      `${sentence}: send it in UTF-8 without content-encoding`,
    )
    this.#codedResponse = env.refusal('GW_RESPONSE_INVALID', sentence)
  }

  step(): Step {
    const { exported } = this.#runner
    const has = (hook: HookName): boolean => exported.includes(hook)
    const { readsRequest, readsResponse } = this.#settings
    return {
      name: 'script',
      ...(has('onRequest') && !readsRequest && { onRequest: this.#onRequest }),
      ...(readsRequest && { onRequest: this.#beforeRequestBody, onRequestBody: this.#onRequestBody }),
      ...((has('onResponse') || has('onError')) && { onResponse: this.#onHead }),
      ...(readsResponse && { onResponseBody: this.#onResponseBody }),
    }
  }

  readonly #onRequest = (x: Exchange): Eventual =>
    this.#run(x, { hook: 'onRequest', body: null, cannotSet: UNDECLARED.onRequest })

  readonly #beforeRequestBody = (x: Exchange): Eventual => {
    if (hasContentCoding(x.headers)) return this.#codedRequest
    limitBody(x, 'request', this.#settings.maxBodyBytes)
    return null
  }

  readonly #onRequestBody = (x: Exchange, body: Uint8Array): Eventual => {
    if (body.length > 0 && codingIssue(x.headers) !== null) return this.#codedRequest
    return this.#run(x, { hook: 'onRequest', body, cannotSet: '' })
  }

  /** Handles a refusal, or the head of a response whose body may follow. */
  readonly #onHead = (x: Exchange): Eventual => {
    const { exported } = this.#runner
    if (x.errorCode !== '') {
      return exported.includes('onError')
        ? this.#run(x, { hook: 'onError', body: null, cannotSet: '' })
        : null
    }
    if (!exported.includes('onResponse')) return null
    if (!this.#settings.readsResponse || hasNoBody(x))
      return this.#run(x, { hook: 'onResponse', body: null, cannotSet: UNDECLARED.onResponse })
    if (hasContentCoding(x.responseHeaders)) return this.#codedResponse
    limitBody(x, 'response', this.#settings.maxBodyBytes)
    return null
  }

  readonly #onResponseBody = (x: Exchange, body: Uint8Array): Eventual => {
    if (body.length > 0 && codingIssue(x.responseHeaders) !== null) return this.#codedResponse
    return this.#run(x, { hook: 'onResponse', body, cannotSet: '' })
  }

  #run(x: Exchange, options: InputOptions): Eventual {
    const inputs = callInputs(x, options)
    const result =
      inputs.body.length < OFFLOAD_BYTES ? this.#runner.call(inputs) : this.#offload.run(inputs, x)
    if (result instanceof Promise)
      return result.then((late) => this.#finish(x, inputs.hook, late), overloaded)
    return this.#finish(x, inputs.hook, result)
  }

  #finish(x: Exchange, hook: HookName, { changes, fault }: CallResult): Reply | null {
    if (fault !== null) return this.#failed(hook, fault)
    try {
      return this.#change(x, hook, changes)
    } catch (error) {
      return this.#failed(hook, error as ScriptFault)
    }
  }

  #change(x: Exchange, hook: HookName, text: string): Reply | null {
    const isRequest = hook === 'onRequest'
    const changes = changesOf(text, isRequest ? 'request' : 'response', this.#settings.maxBodyBytes)
    for (const line of changes.log)
      this.#env.report('script_log', { script: this.#settings.label, route: x.routeId, id: x.id, line })
    applyChanges(x, changes, isRequest)
    if (
      hook === 'onError' &&
      changes.body !== null &&
      headerJoined(x.responseHeaders, 'content-type') === null
    )
      x.responseHeaders.push('content-type', 'text/plain; charset=utf-8')
    const { reply } = changes
    return reply === null ? null : answer(reply.status, reply.headers, reply.body)
  }

  /** Blames the sender for an unreadable body, and the script for everything else. */
  #failed(hook: HookName, fault: Pick<ScriptFault, 'kind' | 'message'>): Reply {
    if (fault.kind === 'body') {
      const message = fault.message.replace(/^BodyError: | \(line .*$/g, '')
      return refusal(hook === 'onRequest' ? 'GW_BODY_UNPARSABLE' : 'GW_RESPONSE_INVALID', message)
    }
    const text = `${this.#settings.label}, ${hook}: ${fault.message}`
    throw new PolicyFailure('GW_SCRIPT_ERROR', 'the script of this route failed', text)
  }
}

/** True if no upstream body follows: there is none, or a policy created the response. */
function hasNoBody(x: Exchange): boolean {
  return isBodiless(x) || x.result === 'blocked'
}
