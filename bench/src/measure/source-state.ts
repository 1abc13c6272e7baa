import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { SourceState } from '../model/machine.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const ANSWER_MS = 10_000

/**
 * The commit of the code in a folder; null: the folder is not the top of a checkout, or git does not tell. A package that
 * is installed within a checkout of somebody else has no commit of its own.
 */
export function sourceState(root = ROOT): SourceState | null {
  const top = git(root, 'rev-parse', '--show-toplevel')
  if (top === null || realpathSync(top) !== realpathSync(root)) return null
  const commit = git(root, 'rev-parse', '--verify', 'HEAD')
  const changes = git(root, 'status', '--porcelain', '--untracked-files=no')
  return commit === null || changes === null ? null : { commit, isDirty: changes !== '' }
}

/** What git answers about a folder; null when it does not. It takes no locks and obeys no variables of a hook. */
function git(root: string, ...args: readonly string[]): string | null {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  const { status, stdout } = spawnSync('git', ['--no-optional-locks', ...args], {
    cwd: root,
    env: Object.fromEntries(others),
    encoding: 'utf8',
    timeout: ANSWER_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout.trim() : null
}
