import { Script } from 'node:vm'
import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { failed, type Transformed, type TransformFailure, unreadable } from '../transformed.js'
import { bodyText } from '../xml/body-text.js'
import { parseXml } from '../xml/gate.js'
import { loadLibxml } from '../xml/libxml.js'
import { INPUT_LIMITS } from './input-limits.js'
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
    const input = await select(body)
    if (!(input instanceof Uint8Array)) return input
    const text = textOf(input)
    return typeof text === 'string' ? run({ saxon, stylesheet, config }, text, params) : text
  }
}

/** SaxonJS is quadratic in attributes and recurses with the depth: the gate looks first. */
function textOf(body: Uint8Array): string | TransformFailure {
  try {
    const view = parseXml(body, INPUT_LIMITS)
    const { encoding } = view.document
    view.close()
    return bodyText(body, encoding)
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
  sourceText: string,
  params: readonly ParamValue[],
): Transformed {
  const { timeoutMs, maxOutputBytes } = config.limits
  const isJson = config.source.method === 'json'
  const options = {
    stylesheetInternal: stylesheet,
    sourceText,
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
