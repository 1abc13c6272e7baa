import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { runLintTool } from './lint-tools/lint-tool.mjs'

/**
 * Returns problems that the linter cannot find: unused exports, download addresses in the lock file, and names of
 * registries or paths of one machine in the tree.
 */
export function structureProblems(root) {
  return [...deadExports(), ...lockedAddresses(root), ...strayNames(root)]
}

function deadExports() {
  const { status, stdout, stderr } = runLintTool('knip', ['--no-progress'])
  return status === 0 ? [] : [`knip:\n${stdout}${stderr}`]
}

function lockedAddresses(root) {
  return lockFiles(root).flatMap((file) =>
    Object.entries(JSON.parse(readFileSync(`${root}/${file}`, 'utf8')).packages)
      .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
      .map(([name]) => `${file} holds a download address for ${name}`),
  )
}

function lockFiles(root) {
  const list = ['ls-files', 'package-lock.json', '*/package-lock.json']
  const { stdout } = spawnSync('git', list, { cwd: root, encoding: 'utf8' })
  return (stdout ?? '').split('\n').filter(Boolean)
}

/** The names are assembled so that this file does not contain them. */
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
  const grep = ['grep', '-nIE', patterns.join('|'), '--', '.', ':!*package-lock.json']
  const { stdout } = spawnSync('git', grep, { cwd: root, encoding: 'utf8' })
  return (stdout ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => `a name that belongs to one machine or registry: ${line}`)
}
