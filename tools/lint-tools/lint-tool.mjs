import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInstalled } from '../lib/installed.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const PROGRAMS = {
  biome: join('@biomejs', 'biome', 'bin', 'biome'),
  knip: join('knip', 'bin', 'knip.js'),
  'dependency-cruiser': join('dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
}
/** `npm ci` requires entries for the binaries of all platforms in the lock file. `npm install` does not. */
const INSTALL = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Runs a program in the root of the repository. Installs all of them first if necessary. */
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

/** Checks the order of packages and folders, and that imports form no loop (tools/lint/layers.mjs). */
export function checkImports(options = {}) {
  const sources = ['packages', 'bench/src', 'tools']
  return runLintTool('dependency-cruiser', ['--config', 'tools/lint/layers.mjs', ...sources], options)
}
