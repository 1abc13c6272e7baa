import { existsSync, readdirSync, statSync } from 'node:fs'
import { register } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CasesResult, checkCases, readCases, readTextFile } from '@sluice/config'
import { EXIT, Failure, messageOf } from '../output/failure.js'

/** A file with cases that has been read. */
export interface LoadedFile {
  /** Path relative to the working directory. */
  readonly file: string
  readonly result: CasesResult
}

const CASE_FILE = /\.test\.(?:ya?ml|m?ts|m?js)$/
const SKIPPED_FOLDERS = new Set(['node_modules', '.git', '__snapshots__'])
const MAX_FILES = 10_000
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Returns the case files: those named, those in named folders, or those in `tests` beside the document.
 * @throws Failure if there are none
 */
export function findCaseFiles(operands: readonly string[], config: string): readonly string[] {
  const folder = join(dirname(config === '-' ? '.' : config), 'tests')
  const places = operands.length > 0 ? operands : [folder]
  const files = places.flatMap((place) => {
    if (!existsSync(place)) throw new Failure(missing(place, operands), EXIT.usage)
    return statSync(place).isDirectory() ? filesIn(place) : [place]
  })
  if (files.length === 0)
    throw new Failure(
      `no case files in ${places.join(', ')}; their names end in .test.yaml, .test.ts or .test.mjs`,
    )
  return [...new Set(files.map((file) => relative('.', resolve(file))))]
}

function missing(place: string, operands: readonly string[]): string {
  if (operands.length > 0) return `cannot read ${place}: there is no such file or folder`
  return `there is no folder ${place}; name case files, or write tests/orders.test.yaml`
}

function filesIn(folder: string): string[] {
  const found: string[] = []
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name)
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) visit(below)
      else if (entry.isFile() && CASE_FILE.test(entry.name)) found.push(below)
      if (found.length > MAX_FILES) throw new Failure(`more than ${MAX_FILES} case files in ${folder}`)
    }
  }
  visit(folder)
  return found.sort()
}

let areHooksRegistered = false

/** Reads and checks a case file: YAML, or a module whose default export has cases. Never throws. */
export async function loadCaseFile(file: string): Promise<LoadedFile> {
  try {
    if (/\.ya?ml$/.test(file)) return { file, result: readCases(readTextFile(file, MAX_BYTES), file) }
    if (!areHooksRegistered) register(new URL('./module-hooks.js', import.meta.url))
    areHooksRegistered = true
    const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown }
    const value = module.default
    const cases = Array.isArray(value) ? { cases: value } : value
    if (cases === undefined) throw new Error('it has no default export')
    // Only plain data, so that nothing of the module runs during the test.
    return { file, result: checkCases(JSON.parse(JSON.stringify(cases)), file) }
  } catch (error) {
    const message = `the cases cannot be loaded: ${messageOf(error)}`
    const place = { severity: 'error', file, line: 1, column: 1, path: '' } as const
    return { file, result: { ok: false, diagnostics: [{ ...place, message, remedy: 'correct the file' }] } }
  }
}
