import { accessSync, constants, mkdirSync, rmdir, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemText } from './process-use.js'

let count = 0

/**
 * Returns the nearest ancestor control group (cgroup v2) below which this process can create groups with a memory
 * limit, or null. A group with processes cannot have such children, so it is usually not the own one.
 */
export function memoryParent(
  root = '/sys/fs/cgroup',
  own = systemText('/proc/self/cgroup') ?? '',
): string | null {
  const [, path] = /^0::(\/.*)$/m.exec(own) ?? []
  for (let at = path; at !== undefined; at = at === '/' ? undefined : dirname(at)) {
    const group = join(root, at)
    if (systemText(join(group, 'cgroup.subtree_control'))?.split(' ').includes('memory') !== true) continue
    try {
      accessSync(group, constants.W_OK)
      return group
    } catch {
      // Only a group above may be writable.
    }
  }
  return null
}

/** Creates a group with a memory limit. Returns its folder, or null without a limit or parent. */
export function memoryGroup(bytes: number | null, parent = memoryParent()): string | null {
  if (bytes === null || parent === null) return null
  const group = join(parent, `sluice-bench-${process.pid}-${++count}`)
  mkdirSync(group)
  writeFileSync(join(group, 'memory.max'), String(bytes))
  return group
}

/** Returns the start of a command that runs the rest in a group. */
export function enterGroup(group: string | null): string[] {
  return group === null ? [] : ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', group]
}

/** Removes a group, if it has no processes left. An empty group does no harm. */
export function removeGroup(group: string | null): void {
  if (group !== null) rmdir(group, () => {})
}
