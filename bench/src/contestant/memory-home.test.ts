import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemRoot } from '../measure/testing/system-root.js'
import { memoryHome } from './memory-home.js'

/** Where groups are made on a system with these files. */
function homeWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  return memoryHome(systemRoot(t, files))
}

const GROUPS = '/sys/fs/cgroup'
const SCOPE = `${GROUPS}/user/run.scope`
const VERSION_2 = {
  'proc/self/mountinfo': `30 24 0:26 / ${GROUPS} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate`,
  'proc/self/cgroup': '0::/user/run.scope',
  [`${SCOPE}/cgroup.subtree_control`]: '',
  [`${GROUPS}/user/cgroup.subtree_control`]: 'cpu memory pids',
}

test('of version 1 groups are made within our own, also where a container sees it at the top', (t) => {
  const files = (top: string, folder: string) => ({
    'proc/self/mountinfo': `35 31 0:32 ${top} ${GROUPS}/memory rw - cgroup cgroup rw,memory`,
    'proc/self/cgroup': '4:memory:/pod/bench\n0::/',
    [`${folder}/memory.limit_in_bytes`]: '9223372036854771712',
  })
  const folder = `${GROUPS}/memory/pod/bench`
  assert.equal(homeWith(t, files('/', folder)), folder)
  assert.equal(homeWith(t, files('/pod/bench', `${GROUPS}/memory`)), `${GROUPS}/memory`)
})

test('of version 2 groups are made within a group that hands on memory, else beside it', (t) => {
  assert.equal(homeWith(t, { ...VERSION_2, [`${SCOPE}/cgroup.subtree_control`]: 'memory' }), SCOPE)
  const free = { 'memory.max': 'max', 'memory.high': 'max', 'cpu.max': 'max 100000', 'cpuset.cpus': '' }
  const files = Object.entries(free).map(([name, text]) => [`${SCOPE}/${name}`, text])
  assert.equal(homeWith(t, { ...VERSION_2, ...Object.fromEntries(files) }), `${GROUPS}/user`)
})

test('nobody leaves a group with a limit', (t) => {
  const limits = { 'memory.max': '1073741824', 'memory.high': '5', 'cpu.max': '5 10', 'cpuset.cpus': '0-1' }
  for (const [name, text] of Object.entries(limits))
    assert.throws(() => homeWith(t, { ...VERSION_2, [`${SCOPE}/${name}`]: text }), {
      message: `${SCOPE} has a limit (${name}) that a group beside it would not have`,
    })
})

test('where nobody hands on memory, or there are no groups, there is no place', (t) => {
  const alone = { ...VERSION_2, 'proc/self/cgroup': '0::/', [`${GROUPS}/cgroup.subtree_control`]: '' }
  assert.throws(() => homeWith(t, alone), { message: `${GROUPS} does not hand on the control of memory` })
  const kept = { ...VERSION_2, [`${GROUPS}/user/cgroup.subtree_control`]: 'cpu' }
  assert.throws(() => homeWith(t, kept), /user does not hand on the control of memory/)
  assert.throws(() => homeWith(t, {}), /shows no control groups/)
})
