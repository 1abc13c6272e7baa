import { realpathSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

/** The keys of `package.json` that define the entry point. */
export interface EntryFacts {
  readonly type?: unknown
  readonly main?: unknown
  readonly exports?: unknown
}

const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default'])

/**
 * Returns the module that importing the package loads, as an absolute path without symbolic links.
 * @throws Error that describes the problem with the package
 */
export function entryOf(folder: string, facts: EntryFacts): string {
  const written = facts.exports === undefined ? (facts.main ?? './index.js') : exported(facts.exports)
  if (typeof written !== 'string') throw new Error('its package.json exports no module')
  const path = existing(join(folder, written), written)
  if (!path.startsWith(`${folder}${sep}`)) throw new Error(`its entry ${written} is outside its folder`)
  const extension = extname(path)
  if (extension === '.mjs' || (extension === '.js' && facts.type === 'module')) return path
  if (/^\.[cm]?tsx?$/.test(extension))
    throw new Error(`its entry ${written} is TypeScript; build it to JavaScript`)
  throw new Error(`its entry ${written} is not an ES module; add "type": "module" to its package.json`)
}

function existing(path: string, written: string): string {
  try {
    return realpathSync(path)
  } catch {
    throw new Error(`its entry ${written} does not exist; build the package`)
  }
}

/** Returns the first matching condition, as Node.js does (Node.js documentation, "Conditional exports"). */
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
