import { type CompileEnv, definePolicy, type Exchange, type HeaderList } from '@sluice/core'
import { hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import { headersOf, limitBody, type Side } from '../../shared/message/side.js'
import { bodyHooks, maxBodyBytesOf } from './body-hooks.js'
import { redactedForm } from './form.js'
import { compileRules, type Rule, readsBody } from './rule.js'
import { type RedactConfig, redactSchema } from './schema.js'

/** The `redact` policy. Masks, deletes or hashes parts of messages. */
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
      if (onBody !== null) limitBody(x, side, maxBytes)
      redactHeaders(headersOf(x, side), rules)
      if (side === 'request') redactQuery(x, rules)
      return onBody?.head(x) ?? null
    },
    ...(onBody !== null && { body: onBody.body }),
  }
}

/** Redacts header lines in place. */
function redactHeaders(list: HeaderList, rules: readonly Rule[]): void {
  let kept = 0
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!
    const value = redactedLine(name, list[i + 1]!, rules)
    if (value === null) continue
    list[kept] = name
    list[kept + 1] = value
    kept += 2
  }
  if (kept !== list.length) list.length = kept
}

function redactedLine(name: string, value: string, rules: readonly Rule[]): string | null {
  let rest: string | null = value
  for (const { headers, redaction } of rules) {
    if (rest !== null && headers.has(name)) rest = redaction(rest)
  }
  return rest
}

/** Redacts query parameters. `types` and `patterns` apply only to bodies. */
function redactQuery(x: Exchange, rules: readonly Rule[]): void {
  for (const rule of rules) {
    if (rule.query.size > 0 && x.query !== '')
      x.query = redactedForm(x.query, { ...rule, types: [], patterns: [] }, rule.query)
  }
}
