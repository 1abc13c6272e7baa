import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch } from '@sluice/cli/testing'
import { enterGroup, memoryGroup, memoryParent } from './memory-group.js'

test('a group is created below the nearest ancestor that passes the memory controller on', (t) => {
  const root = scratch(t)
  mkdirSync(join(root, 'user/session'), { recursive: true })
  writeFileSync(join(root, 'user/session/cgroup.subtree_control'), '')
  assert.equal(memoryParent(root, '0::/user/session'), null)
  writeFileSync(join(root, 'user/cgroup.subtree_control'), 'cpu memory pids\n')
  assert.equal(memoryParent(root, '5:memory:/a\n0::/user/session\n'), join(root, 'user'))
  // Controllers of version 1 only.
  assert.equal(memoryParent(root, '5:memory:/user/session'), null)
})

test('a server starts inside its group, which has the limit of the tier', async (t) => {
  const parent = scratch(t)
  const group = memoryGroup(2 * 1024 ** 3, parent)!
  assert.equal(readFileSync(join(group, 'memory.max'), 'utf8'), '2147483648')
  const [program, ...args] = [...enterGroup(group), 'sh', '-c', 'echo "$$ $1"', 'sh', 'a "b" c']
  const child = spawn(program!, args)
  const output: string[] = []
  child.stdout.on('data', (part) => output.push(String(part)))
  await once(child, 'close')
  // The process that the group has been told of is the server itself, with its arguments unchanged.
  assert.equal(output.join(''), `${child.pid} a "b" c\n`)
  assert.equal(readFileSync(join(group, 'cgroup.procs'), 'utf8'), `${child.pid}\n`)
  assert.equal(memoryGroup(null, parent), null)
  assert.equal(memoryGroup(1, null), null)
})
