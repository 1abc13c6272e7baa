import { isUtf8 } from 'node:buffer'
import type { Exchange } from '@sluice/core'
import type { CallInput } from '../../engines/script/sandbox/call.js'
import type { CallInputs } from './runner.js'

/** Options for the input of a hook. */
export interface InputOptions {
  readonly hook: CallInputs['hook']
  /** Body, or null if it is not declared or missing. */
  readonly body: Uint8Array | null
  /** Reason why the body cannot be replaced, or an empty string. */
  readonly cannotSet: string
}

/** Returns the inputs of a call: the exchange as JSON, and the body as text. */
export function callInputs(x: Exchange, { hook, body, cannotSet }: InputOptions): CallInputs {
  const text = body === null ? null : textOf(body)
  const isSent = hook !== 'onRequest'
  const input: CallInput = [
    x.id,
    x.method,
    x.scheme,
    x.host,
    x.path,
    x.clientIp,
    x.query,
    x.routeId,
    x.headers,
    x.paramNames.flatMap((name, i) => [name, x.params[i] ?? '']),
    x.vars === null ? [] : [...x.vars].flat(),
    x.consumer,
    isSent ? x.status : 0,
    isSent ? x.responseHeaders : [],
    hook === 'onError' ? { code: x.errorCode, message: x.errorMessage } : null,
    text !== null ? 'text' : body === null ? 'none' : 'binary',
    cannotSet,
  ]
  return { hook, input: JSON.stringify(input), body: text ?? '' }
}

/** Returns the body as text, or null if it is not text. Text passed to the sandbox ends at a NUL. */
function textOf(body: Uint8Array): string | null {
  if (!isUtf8(body) || body.includes(0)) return null
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}
