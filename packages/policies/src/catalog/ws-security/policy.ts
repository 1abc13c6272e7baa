import { type CompileEnv, definePolicy, type Step } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { type WsSecurityConfig, wsSecuritySchema } from './schema.js'

/** Checks, opens and makes the security headers of SOAP messages. */
export const wsSecurity = definePolicy({
  name: 'ws-security',
  summary:
    'Checks WS-Security headers of SOAP messages (UsernameToken, Timestamp, XML Signature), decrypts them, and signs, encrypts and adds tokens for the other side.',
  schema: wsSecuritySchema,
  cost: 'cpu',
  authenticates: ({ request }) =>
    request?.check?.usernameToken !== undefined || request?.check?.signature !== undefined ? 'body' : null,
  compile: (config, env) => compileStep(config, env),
})

/** Everything that reads XML is loaded here, for gateways that have this policy only. */
async function compileStep({ request, response }: WsSecurityConfig, env: CompileEnv): Promise<Step | null> {
  await loadLibxml()
  const [{ RequestSecurity }, { ResponseSecurity }] = await Promise.all([
    import('./request-security.js'),
    import('./response-security.js'),
  ])
  const onRequest = request?.check || request?.add ? new RequestSecurity(request, env) : null
  const onResponse = response?.check || response?.add ? new ResponseSecurity(response, env) : null
  if (onRequest === null && onResponse === null)
    throw new Error("nothing is asked for; give 'request' or 'response'")
  return {
    name: 'ws-security',
    ...(onRequest === null
      ? {}
      : {
          decidesOnBody: request?.check !== undefined,
          onRequest: (x) => onRequest.admit(x),
          onRequestBody: (x, body) => onRequest.secure(x, body),
        }),
    ...(onResponse === null
      ? {}
      : {
          onResponse: (x) => onResponse.admit(x),
          onResponseBody: (x, body) => onResponse.secure(x, body),
        }),
  }
}
