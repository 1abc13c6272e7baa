import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * True if node_modules of a folder matches its package-lock.json. npm writes node_modules/.package-lock.json at the end,
 * so interrupted and outdated installations are detected. A manual `npm install` is not repeated.
 */
export function isInstalled(folder) {
  const wanted = lockedPackages(join(folder, 'package-lock.json'))
  const installed = lockedPackages(join(folder, 'node_modules', '.package-lock.json'))
  if (installed === null || wanted === null) return false
  return Object.keys(wanted).every((path) => isSatisfied(path, wanted[path], installed[path]))
}

/** Optional packages belong to other platforms. Only packages under node_modules are installed. */
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
