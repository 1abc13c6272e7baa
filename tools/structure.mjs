import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'

/**
 * What the linter cannot see: exports that nobody imports, download addresses in the lock file, names of registries
 * and paths of one machine in the tree. Answers with the problems found.
 */
export function structureProblems(root) {
  return [...deadExports(root), ...lockedAddresses(root), ...strayNames(root)]
}

function deadExports(root) {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'knip', '--no-progress'], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? [] : [`knip:\n${stdout}${stderr}`]
}

function lockedAddresses(root) {
  const lock = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'))
  return Object.entries(lock.packages)
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([name]) => `package-lock.json holds a download address for ${name}`)
}

/** The names are put together here so that this file does not hold them itself. */
function strayNames(root) {
  const registries = [
    ['npmjs', 'org'],
    ['maven', 'org'],
    ['pypi', 'org'],
    ['debian', 'org'],
    ['crates', 'io'],
  ]
  const patterns = registries.map((parts) => parts.join('[.]'))
  if (root !== '/' && root.split('/').length > 2) patterns.push(root.replaceAll('.', '[.]'))
  if (homedir() !== '/') patterns.push(`${homedir()}/`.replaceAll('.', '[.]'))
  const grep = ['grep', '-nIE', patterns.join('|'), '--', '.', ':!package-lock.json']
  const { stdout } = spawnSync('git', grep, { cwd: root, encoding: 'utf8' })
  return (stdout ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => `a name that belongs to one machine or registry: ${line}`)
}
