import { createHash, type Hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Maximum number of files in a plugin package. */
const MAX_FILES = 2000
const MAX_BYTES = 32 * 1024 * 1024

/**
 * Returns the SHA-256 of a package in hexadecimal: of the names and contents of its files. Dependencies
 * (`node_modules`) and dotfiles are excluded.
 * @throws Error if the package is too large
 */
export function digestOfFiles(folder: string): string {
  const hash = createHash('sha256')
  addFolder(hash, folder, '', { files: MAX_FILES, bytes: MAX_BYTES })
  return hash.digest('hex')
}

interface Budget {
  files: number
  bytes: number
}

function addFolder(hash: Hash, folder: string, below: string, budget: Budget): void {
  const names = readdirSync(join(folder, below)).sort()
  for (const name of names) {
    if (name.startsWith('.') || name === 'node_modules') continue
    const path = join(below, name)
    const stats = statSync(join(folder, path), { throwIfNoEntry: false })
    if (stats?.isDirectory() === true) addFolder(hash, folder, path, spend(budget, 0))
    else if (stats?.isFile() === true) {
      spend(budget, stats.size)
      const content = readFileSync(join(folder, path))
      hash.update(`${path}\0${content.length}\0`).update(content)
    }
  }
}

function spend(budget: Budget, bytes: number): Budget {
  budget.files--
  budget.bytes -= bytes
  if (budget.files >= 0 && budget.bytes >= 0) return budget
  throw new Error(`it has more than ${MAX_FILES} files or ${MAX_BYTES / 1024 ** 2} MB outside node_modules`)
}
