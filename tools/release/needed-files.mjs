import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Relative imports of modules and declarations, and files next to a module, such as the program of a thread. */
const REFERENCE =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)["'](\.[^"']+)["']|<reference path="([^"]+)"/g
/** Compiled files that are dropped if nothing refers to them. Other files, such as pages and examples, are kept. */
const COMPILED = /^dist\/(?:bundle\/.*\.js|.*\.d\.ts)$/
const SOURCE_MAP = /\.map$/

/** Modules for tests that plugins use. Others are exported for the tests of this repository only. */
const PUBLIC_TEST_MODULES = ['@sluice/policies/testing', '@sluice/policies/contract-kit']

/**
 * Returns the exports without test modules, except the public ones and those that other published modules import.
 * @param imported text of all modules that are published
 */
export function publicExports(name, exports, imported) {
  const isTestModule = (path) => /\/testing(?:\/|$)/.test(path)
  return Object.fromEntries(
    Object.entries(exports).filter(([path]) => {
      const address = `${name}${path.slice(1)}`
      return (
        !isTestModule(path) ||
        PUBLIC_TEST_MODULES.includes(address) ||
        [`'${address}'`, `"${address}"`].some((quoted) => imported.includes(quoted))
      )
    }),
  )
}

/** Returns the files of a package that its exports and programs need, of those in the list. */
export function neededFiles(folder, files, { exports = {}, bin = {} }) {
  const seen = new Set()
  const targets = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  )
  const queue = [...targets, ...Object.values(bin)]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = normalize(path)
    if (seen.has(file) || !existsSync(join(folder, file))) continue
    seen.add(file)
    queue.push(...referencesOf(folder, file))
  }
  return files.filter((file) => !SOURCE_MAP.test(file) && (seen.has(file) || !COMPILED.test(file)))
}

function referencesOf(folder, file) {
  if (!/\.(?:m?js|d\.ts)$/.test(file)) return []
  const text = readFileSync(join(folder, file), 'utf8')
  return [...text.matchAll(REFERENCE)].map(([, module, path]) => {
    const target = join(dirname(file), module ?? path)
    return file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
  })
}
