import { spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** Namespaces of a container, in which file systems can be mounted. */
const NAMESPACES = ['--mount', '--pid', '--ipc', '--uts', '--fork', 'mount', '-t', 'tmpfs', 'none', '/mnt']

/** Returns the reason why container tests are skipped, or null: not requested, or not possible on this machine. */
export function containerObstacle() {
  if (process.env.SLUICE_TEST_IMAGE !== '1')
    return 'two minutes of building, which npm run test:image does by itself'
  if (process.platform !== 'linux') return 'containers need Linux'
  if (process.getuid() !== 0) return 'containers of the tests need root; run npm test as root'
  const { status, stderr, error } = spawnSync('unshare', NAMESPACES, { encoding: 'utf8' })
  if (status !== 0) return `this machine allows no containers (${error?.message ?? stderr.trim()})`
  return controlGroupObstacle()
}

/** Returns the reason why no control group can be created, or null. Version 1 has a folder per controller, version 2 one for all. */
export function controlGroupObstacle() {
  const name = `sluice-probe-${process.pid}`
  const reasons = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].map((mount) => {
    try {
      mkdirSync(join(mount, name))
      rmdirSync(join(mount, name))
      return null
    } catch (error) {
      return error.message
    }
  })
  return reasons.includes(null) ? null : `this machine allows no containers (${reasons[1]})`
}
