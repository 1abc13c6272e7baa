import { realpathSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

/** The parts of `package.json` that say where the code is. */
export interface EntryFacts {
  readonly type?: unknown
  readonly main?: unknown
  readonly exports?: unknown
}

const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default'])

/**
 * The module that `import` of a package loads, as an absolute path without links.
 * @throws Error that says what is wrong with the package.
 */
export function entryOf(folder: string, facts: EntryFacts): string {
  const written = facts.exports === undefined ? (facts.main ?? './index.js') : exported(facts.exports)
  if (typeof written !== 'string') throw new Error('its package.json exports nothing to import')
  const path = existing(join(folder, written), written)
  if (!path.startsWith(`${folder}${sep}`)) throw new Error(`its entry ${written} is outside its folder`)
  const extension = extname(path)
  if (extension === '.mjs' || (extension === '.js' && facts.type === 'module')) return path
  if (/^\.[cm]?tsx?$/.test(extension))
    throw new Error(`its entry ${written} is not built; build it to JavaScript`)
  throw new Error(`its entry ${written} is no ES module; write "type": "module" into its package.json`)
}

function existing(path: string, written: string): string {
  try {
    return realpathSync(path)
  } catch {
    throw new Error(`its entry ${written} is not there; build the package`)
  }
}

/** The first of the conditions that holds, as Node.js chooses (its manual, "Conditional exports"). */
function exported(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return exported(value[0])
  if ('.' in value) return exported(value['.'])
  for (const [condition, then] of Object.entries(value)) {
    if (!CONDITIONS.has(condition)) continue
    const found = exported(then)
    if (found !== undefined) return found
  }
  return undefined
}
