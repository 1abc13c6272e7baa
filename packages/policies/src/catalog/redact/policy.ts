import { type CompileEnv, definePolicy } from '@sluice/core'
import { hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import { boundBody, headersOf, type Side } from '../../shared/message/side.js'
import { bodyHooks, maxBodyBytesOf } from './body-hooks.js'
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
    return { name: 'redact', ...hooksOn('both', (side) => hooksOf(side, config, env)) }
  },
})

function hooksOf(side: Side, config: RedactConfig, env: CompileEnv): MessageHooks {
  const rules = compileRules(config, side)
  if (rules.length === 0) return {}
  const maxBytes = maxBodyBytesOf(config)
  const onBody = rules.some(readsBody) ? bodyHooks({ config, side, rules }, env) : null
  return {
    head(x) {
      if (onBody !== null) boundBody(x, side, maxBytes)
      redactHeaders(headersOf(x, side), rules)
      if (side === 'request') redactQuery(x, rules)
      return onBody?.head(x) ?? null
    },
    ...(onBody !== null && { body: onBody.body }),
  }
}
