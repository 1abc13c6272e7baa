import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Context, createContext, Script } from 'node:vm'
import { MODULE_PARAMETERS, PLATFORM_SCRIPT } from './platform.js'

/** Saxonica modules: the processor, and the command line of the compiler. */
export type SaxonModuleName = 'saxon-js' | 'xslt3'

/** Initial state of a sandbox. */
export interface SandboxSetup {
  /** Files that SaxonJS can read: path, such as `/stylesheet.xsl`, and text. */
  readonly files: readonly (readonly [path: string, text: string])[]
  /** Command-line arguments after the program name. */
  readonly argv: readonly string[]
}

/** Thrown if a script exceeds its time limit. The sandbox must not be used again. */
export class SandboxTimeout extends Error {}

/** Time limit for code other than stylesheets, in milliseconds. */
const SETUP_TIMEOUT_MS = 10_000

const platformScript = new Script(PLATFORM_SCRIPT, { filename: 'platform' })
const moduleScripts = new Map<SaxonModuleName, Script>()

/** File paths of the Saxonica modules. */
export type SaxonPaths = Readonly<Record<SaxonModuleName, string>>

let paths: SaxonPaths | null = null

/** Returns the paths of the Saxonica modules and resolves them if `setSaxonPaths` was not called. */
export function saxonPaths(): SaxonPaths {
  paths ??= {
    'saxon-js': fileURLToPath(import.meta.resolve('saxon-js')),
    xslt3: fileURLToPath(import.meta.resolve('xslt3')),
  }
  return paths
}

/** Sets the paths, for a process that may not resolve them. */
export function setSaxonPaths(known: SaxonPaths): void {
  paths = known
}

/**
 * A separate global scope for SaxonJS, because SaxonJS calls JavaScript functions on behalf of stylesheets:
 *
 *     this process ── texts ──► sandbox: the language's own objects, no code from strings, no WebAssembly
 *                 ◄── a text ──          SaxonJS, and a platform built inside (platform.ts)
 *
 * Only text crosses the boundary. The constructor of any object from outside would lead to this process.
 */
export class Sandbox {
  readonly #texts: Record<string, string> = Object.create(null)
  readonly #context: Context

  constructor(setup: SandboxSetup) {
    this.#context = createContext(this.#texts, {
      codeGeneration: { strings: false, wasm: false },
      // Promise callbacks run within the script that created them, and within its time limit.
      microtaskMode: 'afterEvaluate',
    })
    this.run(platformScript, { input: JSON.stringify(setup) }, SETUP_TIMEOUT_MS)
  }

  /** Evaluates a module inside the sandbox. */
  load(name: SaxonModuleName, timeoutMs = SETUP_TIMEOUT_MS): void {
    this.run(moduleScript(name), {}, timeoutMs)
  }

  /**
   * Runs a script whose result is a text.
   * @param texts global variables of the script, removed when it ends.
   * @throws SandboxTimeout; Error without details for anything that the script threw
   */
  run(script: Script, texts: Readonly<Record<string, string>>, timeoutMs: number): string {
    Object.assign(this.#texts, texts)
    try {
      const result: unknown = script.runInContext(this.#context, { timeout: timeoutMs, displayErrors: false })
      return typeof result === 'string' ? result : ''
    } catch (problem) {
      throw isTimeout(problem)
        ? new SandboxTimeout('a script exceeded its time limit')
        : new Error('a script failed')
    } finally {
      for (const name of Object.keys(texts)) delete this.#texts[name]
    }
  }
}

function isTimeout(problem: unknown): boolean {
  return (problem as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

function moduleScript(name: SaxonModuleName): Script {
  const known = moduleScripts.get(name)
  if (known !== undefined) return known
  const source = readFileSync(saxonPaths()[name], 'utf8').replace(/^#!.*/, '')
  const script = new Script(
    `platform.load(${JSON.stringify(name)}, function (${MODULE_PARAMETERS}) {${source}\n})`,
    { filename: name },
  )
  moduleScripts.set(name, script)
  return script
}
