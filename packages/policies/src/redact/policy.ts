import { type CompileEnv, definePolicy, type Exchange, type Outcome, type Step } from '@sluice/core'
import { boundBody } from '../message/side.js'
import { bodyHook, maxBodyBytesOf } from './body-hook.js'
import { redactHeaders, redactQuery } from './head.js'
import { compileRules, readsBody } from './rule.js'
import { type RedactConfig, redactSchema } from './schema.js'

/** Masks, deletes or hashes parts of the message itself. */
export const redact = definePolicy({
  name: 'redact',
  summary: 'Masks, deletes or hashes fields, headers and sensitive values of requests and responses.',
  cost: 'cpu',
  schema: redactSchema,
  compile(config, env) {
    return { name: 'redact', ...requestHooks(config, env), ...responseHooks(config, env) }
  },
})

function requestHooks(config: RedactConfig, env: CompileEnv): Omit<Step, 'name'> {
  const rules = compileRules(config, 'request')
  if (rules.length === 0) return {}
  const maxBytes = maxBodyBytesOf(config)
  const reads = rules.some(readsBody)
  return {
    onRequest(x: Exchange): Outcome {
      if (reads) boundBody(x, 'request', maxBytes)
      redactHeaders(x.headers, rules)
      redactQuery(x, rules)
      return null
    },
    ...(reads && { onRequestBody: bodyHook({ config, side: 'request', rules }, env) }),
  }
}

function responseHooks(config: RedactConfig, env: CompileEnv): Omit<Step, 'name'> {
  const rules = compileRules(config, 'response')
  if (rules.length === 0) return {}
  const maxBytes = maxBodyBytesOf(config)
  const reads = rules.some(readsBody)
  return {
    onResponse(x: Exchange): Outcome {
      if (reads) boundBody(x, 'response', maxBytes)
      redactHeaders(x.responseHeaders, rules)
      return null
    },
    ...(reads && { onResponseBody: bodyHook({ config, side: 'response', rules }, env) }),
  }
}
