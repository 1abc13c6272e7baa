import { lineage } from '../measure/control-group.js'
import { systemText } from '../measure/system-file.js'

/** What a group of version 2 says where it sets no limit; where there is no such file, there is none either. */
const FREE: Readonly<Record<string, RegExp>> = {
  'memory.max': /^max$/,
  'memory.high': /^max$/,
  'cpu.max': /^max\b/,
  'cpuset.cpus': /^$/,
}

/**
 * The folder of control groups in which those with a limit of memory can be made. It is our own group's, so that what
 * limits us limits them. Of version 2 a group with processes has none within it that have limits (but for the topmost
 * one): there it is the folder that our group is in, as long as our group has no limit that would be left behind.
 *
 * @param root where `/proc` and the groups are; `/` but in tests
 * @throws Error where there is none
 */
export function memoryHome(root = '/'): string {
  const [own, around] = lineage('memory', 'self', root)
  if (own === undefined) throw new Error('the system shows no control groups')
  if (systemText(`${own}/memory.limit_in_bytes`, root) !== null || handsOn(own, root)) return own
  if (around === undefined || !handsOn(around, root))
    throw new Error(`${around ?? own} does not hand on the control of memory`)
  const limit = Object.keys(FREE).find((name) => isLimit(name, systemText(`${own}/${name}`, root)))
  if (limit !== undefined)
    throw new Error(`${own} has a limit (${limit}) that a group beside it would not have`)
  return around
}

function isLimit(name: string, text: string | null): boolean {
  return text !== null && !FREE[name]!.test(text)
}

/** Whether groups within a group of version 2 can have limits of memory. */
function handsOn(folder: string, root: string): boolean {
  return systemText(`${folder}/cgroup.subtree_control`, root)?.split(' ').includes('memory') === true
}
