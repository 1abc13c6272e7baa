import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unsuitableNode } from '../packages/cli/bin/node-version.mjs'
import { isInstalled } from './lib/installed.mjs'

/**
 * Runs before `npm start` and `npm test`: installs dependencies if node_modules differs from package-lock.json, then
 * builds. It runs before anything is installed, and on unsupported versions of Node.js, so it uses only old features.
 */
const root = fileURLToPath(new URL('..', import.meta.url))

const problem = unsuitableNode('Sluice', process.versions.node)
if (problem !== null) fail(problem)
if (!isInstalled(root)) install()
run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'])
run(process.execPath, [join('tools', 'bundle.mjs')])

/** `error` hides the warning that the engine package wants Node.js 22. It contains a binary for 20 too. */
function install() {
  console.log('installing the dependencies')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (error !== undefined) fail(`cannot run ${command}: ${error.message}`)
  if (status !== 0) process.exit(status === null ? 1 : status)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
