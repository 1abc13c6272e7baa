import { answer, type CompileEnv, type Exchange, type Outcome } from '@sluice/core'
import { compileBody, contentTypeOf } from '../../shared/generated-body.js'
import { compileFields } from '../../shared/generated-fields.js'
import type { OwnVariables } from '../../shared/template.js'
import type { CallConfig } from './schema.js'

const DEFAULT_STATUS = 502

/** What a call that has failed makes of its request. @throws Error for an answer that cannot be. */
export function compileErrorReply(
  { name, onError = 'fail', respond }: CallConfig,
  own: OwnVariables,
  env: CompileEnv,
): (x: Exchange, result: string) => Outcome {
  if ((onError === 'respond') !== (respond !== undefined))
    throw new Error("'onError: respond' and 'respond' go together; write both or none")
  if (onError === 'continue') return () => null
  if (respond !== undefined) return ownReply(respond, own)
  const failed = env.refusal(
    'GW_CALL_FAILED',
    'another server that this request needs has not answered as it should',
  )
  const late = env.refusal(
    'GW_CALL_TIMEOUT',
    'another server that this request needs has not answered in time',
  )
  return (x, result) => {
    x.record.reason = `${name}: ${result}`
    return result === 'timeout' ? late : failed
  }
}

function ownReply(respond: NonNullable<CallConfig['respond']>, own: OwnVariables): (x: Exchange) => Outcome {
  const { status = DEFAULT_STATUS, headers = {} } = respond
  const type = contentTypeOf(respond)
  const fields = compileFields(headers, type, 'response', own)
  const body = compileBody(respond, type, own)
  if (body !== null && (status === 204 || status === 304))
    throw new Error(`a response of status ${status} has no body; remove it, or choose another status`)
  return (x) =>
    answer(
      status,
      typeof fields === 'function' ? fields(x) : fields,
      typeof body === 'function' ? body(x) : body,
    )
}
