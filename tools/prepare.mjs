import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unsuitableNode } from '../packages/cli/bin/node-version.mjs'
import { isInstalled } from './installed.mjs'

/**
 * Runs before `npm start` and `npm test`: installs what package-lock.json asks for when node_modules differs from it,
 * then builds. Silent and quick when there is nothing to do. It runs before anything is installed, and on versions
 * of Node.js that the rest does not run on, so it uses nothing but old and plain Node.js.
 */
const root = fileURLToPath(new URL('..', import.meta.url))

const problem = unsuitableNode('Sluice', process.versions.node)
if (problem !== null) fail(problem)
if (!isInstalled(root)) install()
run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'])
run(process.execPath, [join('tools', 'bundle.mjs')])

/** `error` keeps out the warning that the engine package, which carries a binary for Node.js 20 too, wants 22. */
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
