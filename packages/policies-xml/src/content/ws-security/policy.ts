import { type CompileEnv, definePolicy, type Step } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { type WsSecurityConfig, wsSecuritySchema } from './schema.js'

/** The `ws-security` policy. Checks, decrypts and creates security headers of SOAP messages. */
export const wsSecurity = definePolicy({
  name: 'ws-security',
  summary:
    'Checks WS-Security headers of SOAP messages (UsernameToken, Timestamp, XML Signature), decrypts messages, signs and encrypts them, and adds tokens.',
  schema: wsSecuritySchema,
  cost: 'cpu',
  authenticates: ({ request }) =>
    request?.check?.usernameToken !== undefined || request?.check?.signature !== undefined ? 'body' : null,
  compile: (config, env) => compileStep(config, env),
})

/** Loads the XML code only for gateways that use this policy. */
async function compileStep({ request, response }: WsSecurityConfig, env: CompileEnv): Promise<Step | null> {
  await loadLibxml()
  const [{ RequestSecurity }, { ResponseSecurity }] = await Promise.all([
    import('./request-security.js'),
    import('./response-security.js'),
  ])
  const onRequest = request?.check || request?.add ? new RequestSecurity(request, env) : null
  const onResponse = response?.check || response?.add ? new ResponseSecurity(response, env) : null
  if (onRequest === null && onResponse === null)
    throw new Error("nothing is configured: set 'check' or 'add' under 'request' or 'response'")
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
