import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Servers are often installed in folders that only the administrator's PATH contains. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']
const VERSION_MS = 10_000

/** Returns the path of an installed program, or null. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...MORE_FOLDERS]
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

/** Returns the first version number that a program prints, or null. */
export function programVersion(file: string, ...args: readonly string[]): string | null {
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', timeout: VERSION_MS })
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[0] ?? null
}

/** Returns the version of an installed program, or null. */
export function versionOf(name: string, option: string): string | null {
  const file = findProgram(name)
  return file === null ? null : (programVersion(file, option) ?? 'unknown')
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
