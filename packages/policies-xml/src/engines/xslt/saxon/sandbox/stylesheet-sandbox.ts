import { Script } from 'node:vm'
import { Sandbox, SandboxTimeout } from './sandbox.js'
import {
  KEEP_STYLESHEET_SCRIPT,
  type SaxonError,
  TRANSFORM_SCRIPT,
  type TransformInput,
} from './transform.js'

/** A compiled stylesheet with the documents that it may read. */
export interface CompiledStylesheet {
  /** Compiled stylesheet as JSON. */
  readonly sef: string
  readonly files: readonly (readonly [path: string, text: string])[]
}

/** Result of a transformation: the output, or why there is none. */
export type SaxonResult =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'error'; readonly error: SaxonError }
  | { readonly kind: 'timeout' }

/** Result of a compilation: the compiled stylesheet, or what the compiler printed. */
export type CompilerResult =
  | { readonly kind: 'compiled'; readonly sef: string }
  | { readonly kind: 'invalid'; readonly printed: string }
  | { readonly kind: 'timeout' }

const SETUP_TIMEOUT_MS = 10_000
const MAX_PRINTED_CHARS = 2000
const keepStylesheet = new Script(KEEP_STYLESHEET_SCRIPT, { filename: 'stylesheet' })
const transform = new Script(TRANSFORM_SCRIPT, { filename: 'transform' })
const writtenText = new Script(`platform.written.join('')`)
const printedText = new Script(`platform.printed.join(' ').slice(0, ${MAX_PRINTED_CHARS})`)

/** Runs one stylesheet in its own sandbox, which is kept between runs. */
export class StylesheetSandbox {
  readonly #stylesheet: CompiledStylesheet
  #sandbox: Sandbox | null = null

  constructor(stylesheet: CompiledStylesheet) {
    this.#stylesheet = stylesheet
  }

  run(body: string, input: TransformInput, timeoutMs: number): SaxonResult {
    this.#sandbox ??= this.#create()
    try {
      const result = this.#sandbox.run(transform, { body, input: JSON.stringify(input) }, timeoutMs)
      if (result.startsWith('+')) return { kind: 'output', text: result.slice(1) }
      return { kind: 'error', error: JSON.parse(result.slice(1)) as SaxonError }
    } catch (problem) {
      // SaxonJS may have been stopped midway.
      this.#sandbox = null
      if (problem instanceof SandboxTimeout) return { kind: 'timeout' }
      throw problem
    }
  }

  #create(): Sandbox {
    const { files, sef } = this.#stylesheet
    const sandbox = new Sandbox({ files, argv: [] })
    sandbox.load('saxon-js')
    sandbox.run(keepStylesheet, { input: sef }, SETUP_TIMEOUT_MS)
    return sandbox
  }
}

/** Compiles `/stylesheet.xsl` in a sandbox for this one use, because the compiler keeps global state. */
export function compileInSandbox(files: CompiledStylesheet['files'], timeoutMs: number): CompilerResult {
  const argv = ['-xsl:/stylesheet.xsl', '-export:/stylesheet.sef.json', '-nogo']
  const sandbox = new Sandbox({ files, argv })
  try {
    sandbox.load('saxon-js')
    sandbox.load('xslt3', timeoutMs)
    const sef = sandbox.run(writtenText, {}, SETUP_TIMEOUT_MS)
    if (sef !== '') return { kind: 'compiled', sef }
    return { kind: 'invalid', printed: sandbox.run(printedText, {}, SETUP_TIMEOUT_MS) }
  } catch (problem) {
    if (problem instanceof SandboxTimeout) return { kind: 'timeout' }
    throw problem
  }
}
