import { isUtf8 } from 'node:buffer'
import type { Exchange } from '@sluice/core'
import type { CallInput } from '../../engines/script/sandbox/call.js'
import type { CallInputs } from './runner.js'

/** How much of an exchange a hook gets beside the heads. */
export interface InputOptions {
  readonly hook: CallInputs['hook']
  /** Null: the script did not ask for it, or there is none to read. */
  readonly body: Uint8Array | null
  /** Why the body cannot be replaced; empty: it can. */
  readonly cannotSet: string
}

/** What a script gets of an exchange, as one JSON text and the text of the body. */
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

/** Null for what is no text: the way into the sandbox ends at a NUL. */
function textOf(body: Uint8Array): string | null {
  if (!isUtf8(body) || body.includes(0)) return null
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}
