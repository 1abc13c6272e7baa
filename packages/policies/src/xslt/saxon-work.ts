import { Script } from 'node:vm'
import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { failed, type Transformed, unreadable } from '../transformed.js'
import { parseXml } from '../xml/gate.js'
import { loadLibxml } from '../xml/libxml.js'
import type { RunLimits } from './libxslt/engine.js'
import { LibxsltRunner } from './libxslt/runner.js'
import type { ParamValue } from './params.js'
import { filesOf, loadConfined } from './saxon/confined-module.js'
import type { StylesheetSource } from './stylesheet-source.js'

export interface SaxonConfig {
  /** The compiled stylesheet, JSON. */
  readonly sef: string
  readonly source: StylesheetSource
  readonly limits: RunLimits
}

export interface SaxonInput {
  readonly body: Uint8Array
  readonly params: readonly ParamValue[]
}

/** What is used of SaxonJS. */
interface Saxon {
  transform(options: Record<string, unknown>, execution: 'sync'): { readonly principalResult: unknown }
  serialize(value: unknown, properties: Record<string, unknown>): string
}

/** Where the script that is watched finds what it has to do; the time limit of `vm` holds for scripts only. */
const CALL = Symbol.for('sluice.xslt.call')
const script = new Script('globalThis[Symbol.for("sluice.xslt.call")]()', { filename: 'xslt' })

/** Transforms with SaxonJS; only ever on a thread. */
export const work: OffloadedWork<SaxonConfig, SaxonInput, Transformed> = async (config) => {
  await loadLibxml()
  const select = await selector(config)
  const saxon = loadConfined('saxon-js', {
    files: filesOf(config.source),
    args: [],
    write: () => undefined,
    print: () => undefined,
    exit: () => undefined,
  }) as Saxon
  const stylesheet: unknown = JSON.parse(config.sef)
  return async ({ body, params }) => {
    const problem = judge(body)
    if (problem !== null) return problem
    const input = await select(body)
    return input instanceof Uint8Array ? run({ saxon, stylesheet, config }, input, params) : input
  }
}

/** SaxonJS is quadratic in attributes and recurses with the depth: the gate looks first. */
function judge(body: Uint8Array): Transformed | null {
  try {
    parseXml(body).close()
    return null
  } catch (problem) {
    if (problem instanceof UnreadableBody) return unreadable(problem.message)
    throw problem
  }
}

/** Selecting is the same for all versions. */
async function selector({ source, limits }: SaxonConfig): Promise<Select> {
  if (source.selection === null) return (body) => body
  const selecting = { ...source, main: source.selection, selection: null, imports: [] }
  const runner = await LibxsltRunner.create({ source: selecting, limits })
  return (body) => runner.run({ body, params: [] })
}

type Select = (body: Uint8Array) => Transformed | Promise<Transformed>

const JSON_PROPERTIES = { method: 'json', indent: false }

interface Prepared {
  readonly saxon: Saxon
  readonly stylesheet: unknown
  readonly config: SaxonConfig
}

function run(
  { saxon, stylesheet, config }: Prepared,
  body: Uint8Array,
  params: readonly ParamValue[],
): Transformed {
  const { timeoutMs, maxOutputBytes } = config.limits
  const isJson = config.source.method === 'json'
  const options = {
    stylesheetInternal: stylesheet,
    sourceText: textOf(body),
    // Maps and arrays have to be asked for as they are.
    ...(isJson ? { destination: 'raw', resultForm: 'xdm' } : { destination: 'serialized' }),
    stylesheetParams: Object.fromEntries(params.map(({ name, type, value }) => [name, typed(type, value)])),
  }
  try {
    const text = limited(() => {
      const { principalResult } = saxon.transform(options, 'sync')
      return isJson ? saxon.serialize(principalResult, JSON_PROPERTIES) : String(principalResult ?? '')
    }, timeoutMs)
    const output = Buffer.from(text)
    return output.length > maxOutputBytes ? failed('the result is larger than it may be') : output
  } catch (problem) {
    return judged(problem)
  }
}

/** Runs synchronously, and not for longer than so many milliseconds. */
function limited<T>(call: () => T, timeoutMs: number): T {
  const holder = globalThis as { [CALL]?: () => T }
  holder[CALL] = call
  try {
    return script.runInThisContext({ timeout: timeoutMs }) as T
  } finally {
    delete holder[CALL]
  }
}

function judged(problem: unknown): Transformed {
  const code = (problem as { readonly code?: unknown }).code
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return failed('the transformation takes too long')
  if (problem instanceof RangeError) return failed('the stylesheet calls itself too often')
  // xsl:message with terminate="yes" (XSLT 3.0 section 23.1.1).
  if (String(code).endsWith('}XTMM9000'))
    return { kind: 'refused', detail: 'the stylesheet does not accept the body' }
  return failed('the stylesheet failed')
}

function typed(type: ParamValue['type'], value: string): string | number | boolean {
  if (type === 'number') return Number(value)
  return type === 'boolean' ? value === 'true' : value
}

/** The gate has made sure that the bytes are text of their encoding. */
function textOf(body: Uint8Array): string {
  const isUtf16 = body[0] === 0xff || body[0] === 0xfe || body[0] === 0 || body[1] === 0
  const isBigEndian = body[0] === 0xfe || body[0] === 0
  return new TextDecoder(isUtf16 ? (isBigEndian ? 'utf-16be' : 'utf-16le') : declaredEncoding(body)).decode(
    body,
  )
}

function declaredEncoding(body: Uint8Array): string {
  const head = Buffer.from(body.subarray(0, 200)).toString('latin1')
  return /^[^>]{0,120}encoding=["']([\w-]{1,40})["']/.exec(head)?.[1] ?? 'utf-8'
}
