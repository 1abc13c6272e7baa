import { type Static, Type } from '@sinclair/typebox'
import {
  consumerOf,
  type DeliveredExchange,
  Exchange,
  isErrorCode,
  NO_ROUTE,
  type ReceivedExchange,
  type RoutedExchange,
} from '@sluice/core'
import { Ajv } from 'ajv'
import type { EngineName, HookName } from '../../engines/script/engine.js'
import { type Changes, changesOf } from './changes.js'
import { callInputs } from './input.js'
import { openRunner } from './runner.js'
import type { ScriptConfig } from './schema.js'
import { type ScriptSettings, settingsOf } from './settings.js'

const text = Type.String()
const headers = Type.Record(text, Type.Union([text, Type.Array(text)]))
const options = { additionalProperties: false }

/** An exchange described in a file. All members are optional. */
const trialSchema = Type.Object(
  {
    method: Type.Optional(text),
    scheme: Type.Optional(Type.Union([Type.Literal('http'), Type.Literal('https')])),
    host: Type.Optional(text),
    path: Type.Optional(text),
    query: Type.Optional(text),
    params: Type.Optional(Type.Record(text, text)),
    headers: Type.Optional(headers),
    body: Type.Optional(Type.Unknown()),
    clientIp: Type.Optional(text),
    route: Type.Optional(text),
    vars: Type.Optional(Type.Record(text, text)),
    consumer: Type.Optional(
      Type.Object(
        {
          id: text,
          name: Type.Optional(text),
          auth: Type.Optional(text),
          groups: Type.Optional(Type.Array(text)),
        },
        options,
      ),
    ),
    response: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
          headers: Type.Optional(headers),
          body: Type.Optional(Type.Unknown()),
        },
        options,
      ),
    ),
    error: Type.Optional(Type.Object({ code: text, message: Type.Optional(text) }, options)),
  },
  options,
)

/** A described exchange. */
export type TrialExchange = Static<typeof trialSchema>

/** Hook to test. */
export type TrialCall = 'request' | 'response' | 'error'

/** Result of a tested script. */
export interface Trial {
  readonly call: TrialCall
  readonly engine: EngineName
  /** Error, or null on success. */
  readonly error: string | null
  /** Changes, or null on failure. */
  readonly changes: Changes | null
  /** Duration of the call in milliseconds, including preparation. */
  readonly ms: number
  /** Memory use of the script after the call in bytes, or 0 if it broke its sandbox. */
  readonly memoryBytes: number
}

const HOOK_OF: Readonly<Record<TrialCall, HookName>> = {
  request: 'onRequest',
  response: 'onResponse',
  error: 'onError',
}

/** Validates a described exchange. @throws Error that says what is wrong */
export function trialExchange(description: unknown): TrialExchange {
  const check = new Ajv({ strict: true }).compile<TrialExchange>(trialSchema)
  if (check(description)) return description
  const [{ instancePath, message = '', params } = { instancePath: '', params: {} }] = check.errors ?? []
  const extra = 'additionalProperty' in params ? ` ('${String(params['additionalProperty'])}')` : ''
  throw new Error(`${instancePath === '' ? 'the description' : instancePath} ${message}${extra}`)
}

/**
 * Calls a script with a described exchange. A described body counts as declared.
 * @throws Error for a script that cannot be loaded or has no such hook
 */
export async function tryScript(config: ScriptConfig, given: TrialExchange, call: TrialCall): Promise<Trial> {
  const settings = settingsOf(config)
  const runner = await openRunner(settings)
  try {
    const hook = HOOK_OF[call]
    if (!runner.exported.includes(hook)) throw new Error(`${settings.label} exports no function ${hook}`)
    const inputs = inputsOf(given, hook)
    const startMono = performance.now()
    const result = await runner.call(inputs)
    const outcome = result.fault === null ? checked(result.changes, hook, settings) : result.fault.message
    const ms = performance.now() - startMono
    const facts = { call, engine: runner.engine, ms, memoryBytes: runner.memoryBytes() }
    if (typeof outcome === 'string') return { ...facts, error: outcome, changes: null }
    return { ...facts, error: null, changes: outcome }
  } finally {
    runner.close()
  }
}

function checked(text: string, hook: HookName, { maxBodyBytes }: ScriptSettings): Changes | string {
  try {
    return changesOf(text, hook === 'onRequest' ? 'request' : 'response', maxBodyBytes)
  } catch (error) {
    return (error as Error).message
  }
}

function inputsOf(given: TrialExchange, hook: HookName): ReturnType<typeof callInputs> {
  const side = hook === 'onRequest' ? given : hook === 'onResponse' ? given.response : undefined
  const body =
    side?.body === undefined
      ? null
      : Buffer.from(typeof side.body === 'string' ? side.body : JSON.stringify(side.body))
  const cannotSet = body === null && hook !== 'onError' ? 'the description of the exchange has no body' : ''
  return callInputs(exchangeOf(given), { hook, body, cannotSet })
}

function exchangeOf(given: TrialExchange): Exchange {
  const { params = {}, consumer, error, response = {} } = given
  const code = error?.code ?? 'GW_INTERNAL'
  if (!isErrorCode(code)) throw new Error(`'${code}' is not an error code: see docs/reference/errors.md`)
  const x: ReceivedExchange & RoutedExchange & DeliveredExchange = new Exchange()
  x.id = '00000000-0000-7000-8000-000000000000'
  x.method = given.method ?? 'GET'
  x.scheme = given.scheme ?? 'http'
  x.host = given.host ?? 'localhost'
  x.path = given.path ?? '/'
  x.query = given.query ?? ''
  x.clientIp = given.clientIp ?? '127.0.0.1'
  x.route = { ...NO_ROUTE, id: given.route ?? 'trial' }
  x.headers = headerList(given.headers)
  x.paramNames = Object.keys(params)
  x.params = Object.values(params)
  x.vars = new Map(Object.entries(given.vars ?? {}))
  if (consumer !== undefined) x.consumer = { ...consumerOf('trial', consumer.id), ...consumer }
  x.status = response.status ?? 200
  x.responseHeaders = headerList(response.headers)
  x.errorCode = code
  x.errorMessage = error?.message ?? ''
  return x
}

function headerList(fields: Readonly<Record<string, string | readonly string[]>> = {}): string[] {
  return Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name.toLowerCase(), value]),
  )
}
