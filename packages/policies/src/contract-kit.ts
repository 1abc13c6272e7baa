import {
  checkExchange,
  ERRORS,
  type Exchange,
  type Outcome,
  type Policy,
  resettableValues,
  type Step,
  validateHookResult,
} from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from './testing.js'

/** What a hook may wait for, ms. */
const PATIENCE_MS = 5000
/** A text that is shorter may stand in a message by chance. */
const LEAST_SECRET_CHARS = 6

interface SchemaNode {
  readonly description?: string
  readonly secret?: boolean
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/**
 * What of the contract a policy does not keep, under each of some configurations: its schema and their compilation, what its
 * hooks return for hostile requests, that it shows no secret. Empty when it keeps all of it.
 */
export async function contractFlaws(policy: Policy, configs: readonly unknown[]): Promise<readonly string[]> {
  const flaws = schemaFlaws(policy.schema, policy.name)
  for (const [i, config] of configs.entries()) {
    for (const flaw of await flawsUnder(policy, structuredClone(config)))
      flaws.push(`example ${i + 1}: ${flaw}`)
  }
  return [...new Set(flaws)]
}

function schemaFlaws(node: SchemaNode, path: string): string[] {
  const { properties = {}, items, anyOf = [] } = node
  return [
    ...(node.description ? [] : [`${path} has no description`]),
    ...(node.properties !== undefined && node.additionalProperties !== false
      ? [`${path} takes unknown keys; write additionalProperties: false`]
      : []),
    ...Object.entries(properties).flatMap(([name, child]) => schemaFlaws(child, `${path}.${name}`)),
    ...(items?.properties === undefined
      ? []
      : schemaFlaws({ description: 'of the list', ...items }, `${path}[]`)),
    ...anyOf.flatMap((child) =>
      child.properties === undefined ? [] : schemaFlaws({ description: 'of the key', ...child }, path),
    ),
  ]
}

async function flawsUnder(policy: Policy, config: unknown): Promise<string[]> {
  const mistakes = schemaMistakes(policy, config)
  if (mistakes.length > 0) return mistakes.map((mistake) => `its schema refuses it: ${mistake}`)
  const env = testEnv()
  try {
    const step = await policy.compile(config as never, env)
    if (step === null) return []
    const seen = new Seen()
    for (const [what, x] of hostileExchanges()) await runHooks(step, { what, x }, seen)
    seen.texts.push(JSON.stringify(env.reports))
    const shown = secretsOf(policy.schema, config).filter((secret) =>
      seen.texts.some((text) => text.includes(secret)),
    )
    return [...seen.flaws, ...shown.map(() => 'a secret stands in what it answers, throws or reports')]
  } catch (error) {
    return [`it does not compile: ${String(error)}`]
  } finally {
    env.close()
  }
}

/** What hooks did. */
class Seen {
  readonly flaws: string[] = []
  readonly texts: string[] = []
}

interface Case {
  readonly what: string
  readonly x: Exchange
}

async function runHooks(step: Step, { what, x }: Case, seen: Seen): Promise<void> {
  const body = x.body ?? new Uint8Array(0)
  const hooks: readonly (readonly [string, (() => unknown) | undefined])[] = [
    ['onRequest', step.onRequest && (() => step.onRequest!(x))],
    ['onRequestBody', step.onRequestBody && (() => step.onRequestBody!(x, body))],
    ['onAttempt', step.onAttempt && (() => step.onAttempt!(x))],
    ['onRejected', step.onRejected && (() => rejection(step, x))],
    ['onResponse', step.onResponse && (() => step.onResponse!(x))],
    ['onResponseBody', step.onResponseBody && (() => step.onResponseBody!(x, x.responseBody ?? body))],
  ]
  for (const [name, hook] of hooks) {
    if (hook === undefined) continue
    const before = resettableValues(x)
    try {
      const outcome = validateHookResult(await inTime(hook()))
      checkExchange(x, before)
      seen.texts.push(textOf(outcome))
      // The hooks behind a refusal do not run.
      if (outcome !== null) break
    } catch (error) {
      seen.texts.push(String(error))
      if (!hasCode(error)) seen.flaws.push(`${name} for ${what}: ${String(error)}`)
      break
    }
  }
  try {
    step.onFinish?.(x)
  } catch (error) {
    seen.flaws.push(`onFinish for ${what}: ${String(error)}`)
  }
}

/** A target has refused the request, with a challenge that means nothing. */
function rejection(step: Step, x: Exchange): null {
  const fields = ['www-authenticate', 'Digest nonce=, ="', 'www-authenticate', '\u00ff'.repeat(300)]
  const isRenewed: unknown = step.onRejected!(x, { status: 401, fields })
  if (typeof isRenewed !== 'boolean') throw new Error('it answers neither true nor false')
  return null
}

/** Of failures that a policy means: a body that cannot be read, a failure with a code. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && Object.hasOwn(ERRORS, String(error.code))
}

function textOf(outcome: Outcome): string {
  if (outcome === null) return ''
  const { headers, body, problem } = outcome
  return [...headers, problem?.detail ?? '', body === null ? '' : Buffer.from(body).toString()].join('\n')
}

async function inTime(outcome: unknown): Promise<unknown> {
  if (!(outcome instanceof Promise)) return outcome
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it waits for longer than ${PATIENCE_MS} ms`)), PATIENCE_MS)
  })
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer))
}

/** Requests as callers send them who mean harm, or nothing at all. */
function* hostileExchanges(): Generator<readonly [string, Exchange]> {
  const fields = ['authorization', 'cookie', 'content-type', 'x-api-key', 'origin', 'range', 'if-none-match']
  const values = [
    '',
    ' ',
    ',',
    '=',
    '"',
    '%00%ff',
    '__proto__',
    '\u00ff'.repeat(300),
    'Bearer a.b.c',
    'x'.repeat(8000),
    '-1',
    'NaN',
  ]
  for (const value of values) {
    const headers = fields.flatMap((field) => [field, value])
    yield [
      `fields of ${JSON.stringify(value.slice(0, 20))}`,
      exchange({ headers, responseHeaders: [...headers], status: 200 }),
    ]
  }
  for (const path of ['/', '/%2e%2e/%00', `/${'a/'.repeat(2000)}`, '/__proto__/constructor'])
    yield [
      `the path ${path.slice(0, 20)}`,
      exchange({ rawPath: path, path, query: 'a=%&a&=&__proto__=1&a[]=2', status: 500 }),
    ]
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '<',
    '<a>',
    '{"__proto__":{"a":1}}',
    '['.repeat(5000),
    '\0\u00ff',
    'a=1&a=2&%',
  ])
    for (const type of [
      'application/json',
      'text/xml',
      'application/x-www-form-urlencoded',
      ';;',
      'multipart/form-data',
    ])
      yield [`a body ${JSON.stringify(text.slice(0, 10))} of ${type}`, withBody(text, type)]
}

function withBody(text: string, type: string): Exchange {
  const body = Buffer.from(text, 'latin1')
  const headers = ['content-type', type, 'content-length', String(body.length)]
  const response = { status: 200, responseHeaders: [...headers], responseBody: body }
  return exchange({ method: 'POST', headers, body, contentLength: body.length, ...response })
}

/** The values of a configuration whose schema says `secret: true`. */
function secretsOf(node: SchemaNode, value: unknown): string[] {
  if (typeof value === 'string')
    return node.secret === true && value.length >= LEAST_SECRET_CHARS ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => secretsOf(node.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return []
  const branches = [node, ...(node.anyOf ?? [])]
  return Object.entries(value).flatMap(([key, child]) =>
    branches.flatMap((branch) => secretsOf(branch.properties?.[key] ?? {}, child)),
  )
}
