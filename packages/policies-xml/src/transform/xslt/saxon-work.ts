import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import {
  type Transformed,
  type TransformFailure,
  unreadable,
} from '@sluice/policies/shared/transformation/transformed'
import { parseXml } from '../../engines/xml/gate.js'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { LibxsltRunner } from '../../engines/xslt/libxslt/runner.js'
import { SaxonRunner } from '../../engines/xslt/saxon/saxon-runner.js'
import {
  filesOf,
  INPUT_LIMITS,
  type RunLimits,
  type StylesheetSource,
} from '../../engines/xslt/stylesheet.js'
import type { ParamValue } from './params.js'

/** Configuration of the SaxonJS thread. */
export interface SaxonConfig {
  /** Compiled stylesheet as JSON. */
  readonly sef: string
  readonly source: StylesheetSource
  readonly limits: RunLimits
}

/** Input of one transformation. */
export interface SaxonInput {
  readonly body: Uint8Array
  readonly params: readonly ParamValue[]
}

/** Transforms with SaxonJS. Runs only on a thread, which owns the engine process. */
export const work: OffloadedWork<SaxonConfig, SaxonInput, Transformed> = async (config) => {
  await loadLibxml()
  const select = await selector(config)
  const runner = new SaxonRunner({ sef: config.sef, files: filesOf(config.source) })
  const isJson = config.source.method === 'json'
  return async ({ body, params }) => {
    const input = await select(body)
    if (!(input instanceof Uint8Array)) return input
    const text = textOf(input)
    if (typeof text !== 'string') return text
    return runner.run({ text, isJson, params: params.map(typed) }, config.limits)
  }
}

/** Checks the input first, because SaxonJS is quadratic in attributes and recurses with the depth. */
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

/** Creates the function that selects the element to transform. All XSLT versions share it. */
async function selector({ source, limits }: SaxonConfig): Promise<Select> {
  if (source.selection === null) return (body) => body
  const selecting = { ...source, main: source.selection, selection: null, imports: [] }
  const runner = await LibxsltRunner.create({ source: selecting, limits })
  return (body) => runner.run({ body, params: [] })
}

type Select = (body: Uint8Array) => Transformed | Promise<Transformed>

function typed({ name, type, value }: ParamValue): [string, string | number | boolean] {
  if (type === 'string') return [name, value]
  return [name, type === 'number' ? Number(value) : value === 'true']
}

/** Decodes the text of a parsed document. @param encoding encoding that the document declares, or null. */
function bodyText(body: Uint8Array, encoding: string | null): string {
  return new TextDecoder(nameOf(body, encoding)).decode(body)
}

function nameOf(body: Uint8Array, encoding: string | null): string {
  // The bytes take precedence over the declaration (XML 1.0 appendix F).
  if (body[0] === 0xfe || body[0] === 0) return 'utf-16be'
  if (body[0] === 0xff || body[1] === 0) return 'utf-16le'
  if (body[0] === 0xef || encoding === null) return 'utf-8'
  return encoding
}
