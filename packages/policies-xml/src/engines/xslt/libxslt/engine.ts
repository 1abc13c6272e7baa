import { UnreadableBody } from '@sluice/core'
import { runWithTimeout, TimeLimitExceeded } from '@sluice/policies/engines/deadline/run-with-timeout'
import { failed, type Transformed, unreadable } from '@sluice/policies/shared/transformation/transformed'
import { asciiMarkup, checkEncoding } from '../../xml/encoding.js'
import { parseXml } from '../../xml/gate.js'
import { hasDoctype, scanXml } from '../../xml/scan.js'
import { unreadableXml } from '../../xml/unreadable-xml.js'
import {
  bytesOf,
  INPUT_LIMITS,
  type RunLimits,
  type SourceFile,
  type StylesheetSource,
} from '../stylesheet.js'
import { cString } from './hooks.js'
import { createInstance, type Instance } from './instance.js'

/** Parser options of libxml2: no network, no external entities, no warnings, short texts inside their nodes. */
const PARSE = {
  entities: 2,
  noCdata: 16_384,
  noNetwork: 2048,
  noXxe: 8_388_608,
  noWarning: 64,
  compact: 65_536,
} as const
const BODY_OPTIONS = PARSE.noNetwork | PARSE.noXxe | PARSE.noWarning | PARSE.compact
/** Stylesheets come from the operator: their own entities are resolved, and CDATA becomes text, as libxslt requires. */
const STYLESHEET_OPTIONS = PARSE.noNetwork | PARSE.noXxe | PARSE.entities | PARSE.noCdata

/** Byte offsets of the pointers in an xmlDoc, for the pinned version of the package. */
const DOC = { children: 12, intSubset: 44, encoding: 60 } as const

/** Time limit for compiling a stylesheet, in milliseconds. */
const COMPILE_TIMEOUT_MS = 5000
/** Time limit factor for the second attempt after one that got no CPU. */
const RETRY_TIME_FACTOR = 10
/** Memory size above which an instance is replaced, in bytes. Its memory never shrinks. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/**
 * An XSLT 1.0 stylesheet, compiled in its own instance of libxslt. Transformations are synchronous. An abnormal end
 * breaks the instance; `isBroken` is true then, and the engine must be replaced.
 */
export class LibxsltEngine {
  readonly #instance: Instance
  readonly #stylesheet: number
  /** Stylesheet that copies the selected element, or 0. */
  readonly #selection: number
  isBroken = false

  /** Compiles a stylesheet. @throws Error that says what is wrong with the stylesheet */
  static async create(source: StylesheetSource, timeFactor = 1): Promise<LibxsltEngine> {
    const files = new Map(source.imports.map((file) => [file.url, bytesOf(file)]))
    const instance = await createInstance(files)
    try {
      return runWithTimeout(COMPILE_TIMEOUT_MS * timeFactor, () => new LibxsltEngine(instance, source))
    } catch (error) {
      // The machine gave the process no CPU, so the stylesheet is not to blame.
      if (error instanceof TimeLimitExceeded && error.isStarved && timeFactor === 1)
        return LibxsltEngine.create(source, RETRY_TIME_FACTOR)
      throw error
    }
  }

  private constructor(instance: Instance, source: StylesheetSource) {
    this.#instance = instance
    this.#selection = source.selection === null ? 0 : this.#compile(source.selection, "'select'")
    this.#stylesheet = this.#compile(source.main, 'the stylesheet')
  }

  close(): void {
    this.isBroken = true
  }

  #compile(file: SourceFile, what: string): number {
    const { library, messages } = this.#instance
    const doc = this.#read(bytesOf(file), STYLESHEET_OPTIONS, file.url)
    const stylesheet = doc === 0 ? 0 : library._xsltParseStylesheetDoc(doc)
    const said = messages.take().trim()
    if (stylesheet === 0 || said !== '')
      throw new Error(
        `${what} cannot be compiled: ${said.split('\n', 4).join(' ') || 'not an XSLT stylesheet'}`,
      )
    return stylesheet
  }

  /** Transforms a body. @param params alternating names and XPath expressions. @throws TimeLimitExceeded */
  transform(body: Uint8Array, params: readonly string[], limits: RunLimits): Transformed {
    try {
      scan(body)
      const result = runWithTimeout(limits.timeoutMs, () => this.#run(body, params, limits))
      if (this.#instance.library.HEAPU8.byteLength > MAX_KEPT_BYTES) this.close()
      // Not under the time limit: this parser is shared by all policies and must not be stopped midway.
      return result ?? unreadable(whyUnreadable(body))
    } catch (problem) {
      if (problem instanceof UnreadableBody) return unreadable(problem.message)
      return this.#giveUp(problem)
    }
  }

  /** Runs the stylesheet. Returns null for a body that is not XML. */
  #run(body: Uint8Array, params: readonly string[], limits: RunLimits): Transformed | null {
    const { library, messages } = this.#instance
    messages.take()
    const doc = this.#read(body, BODY_OPTIONS, '')
    // libxml2 reads documents with undeclared prefixes too, but reports them.
    if (doc === 0 || messages.take() !== '') {
      library._xmlFreeDoc(doc)
      return null
    }
    this.#check(doc)
    const input = this.#select(doc)
    const list = this.#strings(params)
    const result = input === 0 ? 0 : library._xsltApplyStylesheet(this.#stylesheet, input, list.at)
    for (let i = 0; i < list.owned.length; i++) library._free(list.owned[i]!)
    const output = result === 0 ? null : this.#serialise(result, limits)
    if (result !== 0) library._xmlFreeDoc(result)
    if (input !== doc && input !== 0) library._xmlFreeDoc(input)
    library._xmlFreeDoc(doc)
    if (input === 0) return { kind: 'refused', detail: "the body has no element that matches 'select'" }
    return output ?? stopped(messages.take())
  }

  /** Returns the document to transform: the whole one, a copy of the selected element, or 0 if no element matches. */
  #select(doc: number): number {
    if (this.#selection === 0) return doc
    const { library } = this.#instance
    const selected = library._xsltApplyStylesheet(this.#selection, doc, 0)
    if (selected === 0 || this.#pointer(selected, DOC.children) !== 0) return selected
    library._xmlFreeDoc(selected)
    return 0
  }

  #pointer(structure: number, field: number): number {
    const { buffer } = this.#instance.library.HEAPU8
    return new DataView(buffer, structure + field, 4).getUint32(0, true)
  }

  /** Checks the security-critical results of the scan against the parser. */
  #check(doc: number): void {
    const { HEAPU8 } = this.#instance.library
    const subset = this.#pointer(doc, DOC.intSubset)
    const encoding = this.#pointer(doc, DOC.encoding)
    const name = encoding === 0 ? null : cString(HEAPU8, encoding)
    if (subset === 0 && name === null) return
    try {
      if (subset !== 0) throw hasDoctype()
      checkEncoding(name)
    } catch (problem) {
      this.#instance.library._xmlFreeDoc(doc)
      throw problem
    }
  }

  #serialise(result: number, { maxOutputBytes }: RunLimits): Transformed {
    const { library } = this.#instance
    const buffer = library._xmlAllocOutputBuffer(0)
    if (buffer === 0) return failed('the result does not fit into memory')
    const written = library._xsltSaveResultTo(buffer, result, this.#stylesheet)
    const at = library._xmlOutputBufferGetContent(buffer)
    const length = library._xmlOutputBufferGetSize(buffer)
    const output = written < 0 || length > maxOutputBytes ? null : copyOf(library.HEAPU8, at, length)
    library._xmlOutputBufferClose(buffer)
    return output ?? failed('the result is larger than the limit')
  }

  #read(bytes: Uint8Array, options: number, url: string): number {
    const { library } = this.#instance
    const at = this.#put(bytes)
    const urlAt = url === '' ? 0 : this.#put(Buffer.from(`${url}\0`))
    const doc = library._xmlReadMemory(at, bytes.length, urlAt, 0, options)
    library._free(at)
    if (urlAt !== 0) library._free(urlAt)
    return doc
  }

  /** Allocates a null-terminated array of C strings. */
  #strings(texts: readonly string[]): { readonly at: number; readonly owned: readonly number[] } {
    if (texts.length === 0) return { at: 0, owned: [] }
    const pointers = texts.map((text) => this.#put(Buffer.from(`${text}\0`)))
    const list = new Uint32Array([...pointers, 0])
    const at = this.#put(new Uint8Array(list.buffer))
    return { at, owned: [...pointers, at] }
  }

  #put(bytes: Uint8Array): number {
    const { library } = this.#instance
    const at = library._malloc(bytes.length)
    if (at === 0) throw new RangeError('the instance has no memory left')
    library.HEAPU8.set(bytes, at)
    return at
  }

  /** Closes the instance, which is in an unknown state after a stack overflow, a trap or a timeout. */
  #giveUp(problem: unknown): Transformed {
    this.close()
    if (problem instanceof TimeLimitExceeded) throw problem
    if (problem instanceof RangeError) return failed('the stylesheet recurses too deeply')
    return failed('the transformation failed')
  }
}

function scan(body: Uint8Array): void {
  if (body.length > INPUT_LIMITS.maxBytes) throw unreadableXml('is too large')
  scanXml(asciiMarkup(body), INPUT_LIMITS)
}

/** Returns the reason for clients, from the gateway's other parser. */
function whyUnreadable(body: Uint8Array): string {
  try {
    parseXml(body).close()
  } catch (problem) {
    if (problem instanceof UnreadableBody) return problem.message
  }
  return 'the body is not readable XML'
}

/**
 * Interprets the messages of a stopped stylesheet. Ending with xsl:message rejects the input; anything else is an
 * error in the stylesheet.
 */
function stopped(said: string): Transformed {
  if (/(?:runtime|XPath) error|recursion/i.test(said)) return failed('the stylesheet failed', said)
  return { kind: 'refused', detail: 'the stylesheet does not accept the body' }
}

function copyOf(heap: Uint8Array, at: number, length: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(length)
  copy.set(heap.subarray(at, at + length))
  return copy
}
