import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Context, createContext, Script } from 'node:vm'
import { MODULE_PARAMETERS, PLATFORM_SCRIPT } from './platform.js'

/** The modules of Saxonica: the processor, and the compiler's command line. */
export type SaxonModuleName = 'saxon-js' | 'xslt3'

/** What a sandbox begins with. */
export interface SandboxSetup {
  /** What SaxonJS can read: path, such as `/stylesheet.xsl`, and text. */
  readonly files: readonly (readonly [path: string, text: string])[]
  /** What follows the name of the program. */
  readonly argv: readonly string[]
}

/** A script ran for longer than it may. The sandbox is not to be used any more. */
export class SandboxTimeout extends Error {}

/** Longest time for what is not a stylesheet's doing. */
const SETUP_TIMEOUT_MS = 10_000

const platformScript = new Script(PLATFORM_SCRIPT, { filename: 'platform' })
const moduleScripts = new Map<SaxonModuleName, Script>()

/** Where the modules of Saxonica are. */
export type SaxonPaths = Readonly<Record<SaxonModuleName, string>>

let paths: SaxonPaths | null = null

/** Finds them, unless somebody has said where they are. */
export function saxonPaths(): SaxonPaths {
  paths ??= {
    'saxon-js': fileURLToPath(import.meta.resolve('saxon-js')),
    xslt3: fileURLToPath(import.meta.resolve('xslt3')),
  }
  return paths
}

/** Says where they are, for a process that may not look for them. */
export function setSaxonPaths(known: SaxonPaths): void {
  paths = known
}

/**
 * A global scope of its own for SaxonJS, which calls functions of JavaScript if a stylesheet says so:
 *
 *     this process ── texts ──► sandbox: the language's own objects, no code from strings, no WebAssembly
 *                 ◄── a text ──          SaxonJS, and a platform made inside (platform.ts)
 *
 * Nothing but texts goes in and comes out. An object from here would lead to this process by its constructor.
 */
export class Sandbox {
  readonly #texts: Record<string, string> = Object.create(null)
  readonly #context: Context

  constructor(setup: SandboxSetup) {
    this.#context = createContext(this.#texts, {
      codeGeneration: { strings: false, wasm: false },
      // What promises do belongs to the script that made them, and to its deadline.
      microtaskMode: 'afterEvaluate',
    })
    this.run(platformScript, { input: JSON.stringify(setup) }, SETUP_TIMEOUT_MS)
  }

  /** Evaluates a module inside. */
  load(name: SaxonModuleName, timeoutMs = SETUP_TIMEOUT_MS): void {
    this.run(moduleScript(name), {}, timeoutMs)
  }

  /**
   * Runs a script that ends with a text.
   * @param texts what it finds in its global scope, until it has ended.
   * @throws SandboxTimeout; Error without details for what the script threw
   */
  run(script: Script, texts: Readonly<Record<string, string>>, timeoutMs: number): string {
    Object.assign(this.#texts, texts)
    try {
      const result: unknown = script.runInContext(this.#context, { timeout: timeoutMs, displayErrors: false })
      return typeof result === 'string' ? result : ''
    } catch (problem) {
      throw isTimeout(problem)
        ? new SandboxTimeout('a script ran for too long')
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
