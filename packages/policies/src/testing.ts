import {
  type CompileEnv,
  type Counter,
  Exchange,
  type Expression,
  HttpCallFailed,
  type HttpClient,
  headerValue,
  LocalCache,
  MemoryStore,
  type Offload,
  type OffloadedWork,
  type Policy,
  queryValue,
  refusal,
  type Slot,
} from '@sluice/core'
import { type ExchangeFields, setFields } from '@sluice/core/testing'
import { Ajv } from 'ajv'
import { SignatureChecks } from './crypto/keys/signature-checks.js'

/** Secret shared by the simulated workers of a test. */
const SECRET = Buffer.alloc(32, 'secret')

/** A working `CompileEnv` for policy tests. */
export interface TestEnv extends CompileEnv {
  readonly reports: readonly { readonly event: string; readonly fields: object }[]
  /** Stops background work and runs the `onClose` callbacks. */
  close(): void
}

/**
 * Creates a `CompileEnv` without a gateway.
 * @param table store behind `shared`. Pass the same table to a second env to simulate a reload.
 */
export function testEnv(table: Map<string, unknown> = new Map()): TestEnv {
  const closing: (() => void)[] = []
  const reports: TestEnv['reports'][number][] = []
  // Lets every signature run on the event loop, so that a busy machine does not change the result.
  if (!table.has('signature-checks')) table.set('signature-checks', new SignatureChecks(() => 0))
  if (!table.has('state')) table.set('state', new MemoryStore())
  const store = table.get('state') as MemoryStore
  return {
    reports,
    state: { store: () => store, isShared: false, secret: SECRET },
    cache: new LocalCache(store),
    report: (event, fields) => void reports.push({ event, fields }),
    reportOutdated: (event, problem) => void reports.push({ event, fields: { problem } }),
    slot: pairSlot,
    shared<T>(key: string, create: () => T): T {
      if (!table.has(key)) table.set(key, create())
      return table.get(key) as T
    },
    refusal,
    counter: (family, labels) => counterOf(table, `${family} ${JSON.stringify(labels)}`),
    expression: (text) => expressionOf(text),
    offload: inPlace,
    refresh: () => false,
    httpClient: ({ origin }) => fetchingClient(origin),
    schedule(everyMs, job) {
      const timer = setInterval(() => void job(), everyMs).unref()
      closing.push(() => clearInterval(timer))
    },
    onClose: (close) => void closing.push(close),
    close() {
      for (const close of closing.splice(0)) close()
    },
  }
}

function counterOf(table: Map<string, unknown>, name: string): Counter {
  if (!table.has(name)) table.set(name, { value: 0 })
  return table.get(name) as Counter
}

/** Compiles the few expressions that policy tests need. @throws Error for any other expression. */
function expressionOf(text: string): Expression {
  const query = /^req\.query\["(\w+)"\]$/.exec(text)?.[1]
  if (query !== undefined)
    return { readsResponse: false, readsBody: false, value: (x) => queryValue(x.query, query) }
  const header = /^(req|res)\.header\["([^"]+)"\]$/.exec(text)
  const value = header === null ? EXPRESSIONS.get(text) : headerReader(header[1]!, header[2]!)
  if (value === undefined) throw new Error(`tests do not know the expression '${text}'`)
  return { readsResponse: text.startsWith('res.'), readsBody: false, value }
}

const EXPRESSIONS: ReadonlyMap<string, Expression['value']> = new Map<string, Expression['value']>([
  ['client.ip', (x) => x.clientIp],
  ['consumer.id', (x) => x.consumer?.id ?? null],
  ['route', (x) => x.routeId],
  ['req.method', (x) => x.method],
  ['res.status', (x) => x.status],
  ['vars["available"] != "0"', (x) => x.vars?.get('available') !== '0'],
  ['res.status == 401', (x) => x.status === 401],
])

function headerReader(side: string, name: string): Expression['value'] {
  return (x) => headerValue(side === 'req' ? x.headers : x.responseHeaders, name)
}

const LOOPBACK = /^https?:\/\/(127\.|localhost[:/]|\[::1\])/

/** Calls a server on this machine without the limits of a gateway. */
function fetchingClient(origin: string): HttpClient {
  return {
    async call({ method, path, headers = [], body = null }) {
      if (!LOOPBACK.test(origin)) throw new HttpCallFailed('unreachable', 'tests call nobody else')
      const fields = headers.flatMap((name, i): [string, string][] =>
        i % 2 === 0 ? [[name, headers[i + 1]!]] : [],
      )
      try {
        const sent = { method, headers: fields, redirect: 'manual', body: body && Buffer.from(body) } as const
        const answer = await fetch(`${origin}${path}`, sent)
        const bytes = new Uint8Array(await answer.arrayBuffer())
        return { status: answer.status, headers: [...answer.headers].flat(), body: bytes }
      } catch (error) {
        throw new HttpCallFailed('unreachable', String(error))
      }
    },
  }
}

/** Runs offloaded work on the calling thread. */
function inPlace<I, O>(module: URL, config: unknown): Offload<I, O> {
  const made = import(module.href).then(({ work }: { work: OffloadedWork<unknown, I, O> }) =>
    work(structuredClone(config)),
  )
  return { run: async (input) => structuredClone(await (await made)(structuredClone(input))) }
}

/** Creates a slot that stores itself and its value as a pair in `x.slots`. */
function pairSlot<T>(): Slot<T> {
  const slot: Slot<T> = {
    get(x) {
      const at = x.slots.indexOf(slot)
      return at === -1 ? undefined : (x.slots[at + 1] as T)
    },
    set(x, value) {
      const at = x.slots.indexOf(slot)
      if (at === -1) x.slots.push(slot, value)
      else x.slots[at + 1] = value
    },
  }
  return slot
}

/** Configuration of a policy as written: options with a default may be absent. */
export type Written<P extends { readonly compile: (config: never, env: CompileEnv) => unknown }> = Parameters<
  P['compile']
>[0]

/** Creates an exchange as the listener hands it to the first policy, with the given fields replaced. */
export function exchange(fields: ExchangeFields = {}): Exchange {
  const x = setFields(new Exchange(), {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    startedAt: Date.now(),
    startedMono: performance.now(),
    method: 'GET',
    authority: 'api.example.com',
    host: 'api.example.com',
    rawPath: fields.path ?? '/',
    path: '/',
    peer: '192.0.2.10',
    clientIp: '192.0.2.10',
    bodyLimit: 10 * 1024 * 1024,
    responseBodyLimit: 10 * 1024 * 1024,
    route: { id: 'test' },
  })
  return setFields(x, fields)
}

/** Returns the schema errors of a configuration as `path message`, and fills in the defaults. */
export function schemaMistakes(policy: Policy, config: unknown): string[] {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    // The gateway has its own check for `choice`.
    keywords: [
      ...['secret', 'path', 'destination', 'expects', 'choice'],
      ...['deprecatedKeys', 'deprecatedValues', 'shorthand'],
    ],
  })
  const check = ajv.compile(policy.schema)
  if (check(config)) return []
  return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`.trim())
}

/** Creates a key and its certificate without external programs. */
export { ADMIN, GROUPS, group, PEOPLE, person, Slapd, slapdSkip } from './auth/ldap/testing/slapd.js'
export { makeCertificate, type Pair } from './crypto/keys/testing/make-certificate.js'
export {
  isolatedVmSkip,
  nodeWithIsolatedVm,
  type OtherNode,
} from './engines/script/isolated-vm/testing/other-node.js'

import './errors.js'

export { exampleUses } from './example-uses.js'
