import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInstalled } from '../installed.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const PROGRAMS = { biome: join('@biomejs', 'biome', 'bin', 'biome'), knip: join('knip', 'bin', 'knip.js') }
/** `npm ci` would want an entry in the lock file for the binaries of every platform; `npm install` takes the lock as it is. */
const INSTALL = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Runs `biome` or `knip` in the root of the repository; installs both first when they are not there. */
export function runLintTool(name, args, options = {}) {
  if (!isInstalled(folder)) {
    const installed = spawnSync('npm', INSTALL, { cwd: folder, encoding: 'utf8' })
    if (installed.status !== 0) return installed
  }
  return spawnSync(process.execPath, [join(folder, 'node_modules', PROGRAMS[name]), ...args], {
    cwd: join(folder, '..', '..'),
    encoding: 'utf8',
    ...options,
  })
}
