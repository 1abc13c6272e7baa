import { answer, type CompileEnv, type Exchange, type Outcome } from '@sluice/core'
import { compileBody, contentTypeOf } from '../../shared/message/generated-body.js'
import { compileFields } from '../../shared/message/generated-fields.js'
import type { OwnVariables } from '../../shared/options/template.js'
import type { CallConfig } from './schema.js'

/** Compiles the reaction to a failed call. @throws Error if the configured response is invalid. */
export function compileErrorReply(
  { name, onError, respond }: CallConfig,
  own: OwnVariables,
  env: CompileEnv,
): (x: Exchange, result: string) => Outcome {
  if ((onError === 'respond') !== (respond !== undefined))
    throw new Error("'onError: respond' and 'respond' belong together; write both or neither")
  if (onError === 'continue') return () => null
  if (respond !== undefined) return ownReply(respond, own)
  const failed = env.refusal(
    'GW_CALL_FAILED',
    'a server that this request depends on did not respond as expected',
  )
  const late = env.refusal('GW_CALL_TIMEOUT', 'a server that this request depends on did not respond in time')
  return (x, result) => {
    x.record.reason = `${name}: ${result}`
    return result === 'timeout' ? late : failed
  }
}

function ownReply(respond: NonNullable<CallConfig['respond']>, own: OwnVariables): (x: Exchange) => Outcome {
  const { status, headers = {} } = respond
  const type = contentTypeOf(respond)
  const fields = compileFields(headers, type, 'response', own)
  const body = compileBody(respond, type, own)
  if (body !== null && (status === 204 || status === 304))
    throw new Error(
      `a response with status ${status} cannot have a body; remove it, or choose another status`,
    )
  return (x) =>
    answer(
      status,
      typeof fields === 'function' ? fields(x) : fields,
      typeof body === 'function' ? body(x) : body,
    )
}
