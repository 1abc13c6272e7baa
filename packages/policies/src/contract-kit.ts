import {
  checkExchange,
  type Exchange,
  isErrorCode,
  type Outcome,
  type Policy,
  resettableValues,
  type Step,
  validateHookResult,
} from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from './testing.js'
import './errors.js'

/** Maximum time a hook may take, in milliseconds. */
const MAX_HOOK_MS = 5000
/** Minimum secret length in characters. A shorter text can occur in a message by chance. */
const MIN_SECRET_CHARS = 6

interface SchemaNode {
  readonly description?: string
  readonly secret?: boolean
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/**
 * Returns the contract violations of a policy under each of the given configurations, or an empty list.
 * Checks the schema, the compilation, the results of hooks for hostile requests, and that no secret leaks.
 */
export async function contractIssues(
  policy: Policy,
  configs: readonly unknown[],
): Promise<readonly string[]> {
  const issues = schemaIssues(policy.schema, policy.name)
  for (const [i, config] of configs.entries()) {
    for (const issue of await issuesUnder(policy, structuredClone(config)))
      issues.push(`example ${i + 1}: ${issue}`)
  }
  return [...new Set(issues)]
}

function schemaIssues(node: SchemaNode, path: string): string[] {
  const { properties = {}, items, anyOf = [] } = node
  return [
    ...(node.description ? [] : [`${path} has no description`]),
    ...(node.properties !== undefined && node.additionalProperties !== false
      ? [`${path} accepts unknown keys: set additionalProperties: false`]
      : []),
    ...Object.entries(properties).flatMap(([name, child]) => schemaIssues(child, `${path}.${name}`)),
    ...(items?.properties === undefined
      ? []
      : schemaIssues({ description: 'of the list', ...items }, `${path}[]`)),
    ...anyOf.flatMap((child) =>
      child.properties === undefined ? [] : schemaIssues({ description: 'of the key', ...child }, path),
    ),
  ]
}

async function issuesUnder(policy: Policy, config: unknown): Promise<string[]> {
  const mistakes = schemaMistakes(policy, config)
  if (mistakes.length > 0)
    return mistakes.map((mistake) => `the schema rejects the configuration: ${mistake}`)
  const env = testEnv()
  try {
    const step = await policy.compile(config as never, env)
    if (step === null) return []
    const observed = new Observations()
    for (const [what, x] of hostileExchanges()) await runHooks(step, { what, x }, observed)
    observed.texts.push(JSON.stringify(env.reports))
    const shown = secretsOf(policy.schema, config).filter((secret) =>
      observed.texts.some((text) => text.includes(secret)),
    )
    return [...observed.issues, ...shown.map(() => 'a secret leaks into a response, an error or a report')]
  } catch (error) {
    return [`compile failed: ${String(error)}`]
  } finally {
    env.close()
  }
}

/** Violations and texts collected from the hooks of one configuration. */
class Observations {
  readonly issues: string[] = []
  readonly texts: string[] = []
}

interface Case {
  readonly what: string
  readonly x: Exchange
}

async function runHooks(step: Step, { what, x }: Case, observed: Observations): Promise<void> {
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
      observed.texts.push(textOf(outcome))
      // Later hooks do not run after a refusal.
      if (outcome !== null) break
    } catch (error) {
      observed.texts.push(String(error))
      if (!hasCode(error)) observed.issues.push(`${name} for ${what}: ${String(error)}`)
      break
    }
  }
  try {
    step.onFinish?.(x)
  } catch (error) {
    observed.issues.push(`onFinish for ${what}: ${String(error)}`)
  }
}

/** Runs `onRejected` as if the target had refused the request with a nonsensical challenge. */
function rejection(step: Step, x: Exchange): null {
  const fields = ['www-authenticate', 'Digest nonce=, ="', 'www-authenticate', '\u00ff'.repeat(300)]
  const isRenewed: unknown = step.onRejected!(x, { status: 401, fields })
  if (typeof isRenewed !== 'boolean') throw new Error('onRejected must return true or false')
  return null
}

/** True for a declared failure: an unreadable body or an error with a known code. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && isErrorCode(String(error.code))
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
    timer = setTimeout(
      () => reject(new Error(`the hook did not finish within ${MAX_HOOK_MS} ms`)),
      MAX_HOOK_MS,
    )
  })
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer))
}

/** Generates malformed, malicious and empty requests. */
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

/** Returns the configuration values whose schema says `secret: true`. */
function secretsOf(node: SchemaNode, value: unknown): string[] {
  if (typeof value === 'string')
    return node.secret === true && value.length >= MIN_SECRET_CHARS ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => secretsOf(node.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return []
  const branches = [node, ...(node.anyOf ?? [])]
  return Object.entries(value).flatMap(([key, child]) =>
    branches.flatMap((branch) => secretsOf(branch.properties?.[key] ?? {}, child)),
  )
}
