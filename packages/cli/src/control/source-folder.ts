import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { BASE_FILE } from '@sluice/config'
import { type Bundle, bundleOf } from '@sluice/control-client'
import { EXIT, Failure, messageOf, usageError } from '../output/failure.js'
import { namedFiles } from './bundle-files.js'

/** A source that the controller composes to a document, or the part of it that is deployed. */
export interface Source {
  readonly bundle: Bundle
  /** `base`, or a team. Absent: the whole source. */
  readonly part?: string
}

/**
 * Reads a folder or file of a team, a folder with `base.yaml` and `fragments`, or `base.yaml` alone. Returns null for
 * any other document.
 * @throws Failure if it cannot be read, or contains links
 */
export function readSource(path: string, team: string | undefined): Source | null {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (team === undefined && !isFolder && basename(path) !== BASE_FILE) return null
  if (path === '-') throw usageError('--team needs a file or folder')
  const root = isFolder ? path : dirname(path)
  const read = (name: string) => readFileSync(join(root, name))
  try {
    if (team !== undefined) {
      const names = isFolder ? filesBelow(root, '.') : [basename(path)]
      const files = new Map(names.map((name) => [`fragments/${team}/${name}`, read(name)] as const))
      return { bundle: bundleOf(files, null), part: team }
    }
    const hasFragments = isFolder && readdirSync(root).includes('fragments')
    const names = [BASE_FILE, ...(hasFragments ? filesBelow(root, 'fragments') : [])]
    const files = new Map<string, Buffer>(names.map((name) => [name, read(name)]))
    for (const name of names.filter((one) => one.endsWith('.yaml')))
      for (const [named, content] of namedFiles({
        name: join(root, BASE_FILE),
        text: String(files.get(name)),
      }))
        files.set(named, content)
    return { bundle: bundleOf(files, BASE_FILE), ...(isFolder ? {} : { part: 'base' }) }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(messageOf(error), EXIT.invalid)
  }
}

/** Returns the files in a folder and below it, relative to the root. Hidden ones are left out. */
function filesBelow(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => {
    const name = relative(root, join(entry.parentPath, entry.name))
    if (entry.isDirectory() || /(^|\/)\./.test(name)) return []
    if (entry.isFile()) return [name]
    throw new Failure(`${join(root, name)} is not a regular file; links are not followed`, EXIT.invalid)
  })
}
