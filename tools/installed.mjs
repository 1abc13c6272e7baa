import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether node_modules of a folder holds what its package-lock.json asks for. npm writes what it has installed to
 * node_modules/.package-lock.json when it is done, so an interrupted or outdated installation is seen here, and one made
 * by hand with `npm install` is not repeated.
 */
export function isInstalled(folder) {
  const wanted = lockedPackages(join(folder, 'package-lock.json'))
  const installed = lockedPackages(join(folder, 'node_modules', '.package-lock.json'))
  if (installed === null || wanted === null) return false
  return Object.keys(wanted).every((path) => isSatisfied(path, wanted[path], installed[path]))
}

/** Optional packages are those of other platforms; only packages under node_modules are installed at all. */
function isSatisfied(path, wanted, installed) {
  if (!path.startsWith('node_modules/')) return true
  if (installed === undefined) return wanted.optional === true
  return installed.version === wanted.version && installed.integrity === wanted.integrity
}

function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}
