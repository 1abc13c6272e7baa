import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cpuQuota, heapFlags, type SizeOptions, workerCount } from './sizing.js'

const NO_WISH: SizeOptions = { workers: null, tier: null, planned: null }

function rootWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'sizing-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

test('the command line beats the tier, the tier beats the document, the document beats the quota', () => {
  const machine = { quotaCpus: 3, parallelism: 16 }
  assert.equal(workerCount({ workers: 5, tier: 'W2', planned: 7 }, machine), 5)
  assert.equal(workerCount({ workers: null, tier: 'W2', planned: 7 }, machine), 2)
  assert.equal(workerCount({ workers: null, tier: null, planned: 7 }, machine), 7)
  assert.equal(workerCount(NO_WISH, machine), 3)
})

test('a quota is rounded up, is at least one worker and never more than the cores', () => {
  assert.equal(workerCount(NO_WISH, { quotaCpus: 1.5, parallelism: 16 }), 2)
  assert.equal(workerCount(NO_WISH, { quotaCpus: 0.1, parallelism: 16 }), 1)
  assert.equal(workerCount(NO_WISH, { quotaCpus: 64, parallelism: 4 }), 4)
  assert.equal(workerCount(NO_WISH, { quotaCpus: null, parallelism: 4 }), 4)
})

test('the quota of a container is read from cpu.max at the root of its mount', (t) => {
  const root = rootWith(t, { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '150000 100000\n' })
  assert.equal(cpuQuota(root), 1.5)
})

test('the smallest quota among the ancestors counts', (t) => {
  const root = rootWith(t, {
    'proc/self/cgroup': '0::/pods/pod1/app\n',
    'sys/fs/cgroup/pods/cpu.max': '800000 100000\n',
    'sys/fs/cgroup/pods/pod1/cpu.max': '200000 100000\n',
    'sys/fs/cgroup/pods/pod1/app/cpu.max': 'max 100000\n',
  })
  assert.equal(cpuQuota(root), 2)
})

test('version 1 is read from the cpu controller', (t) => {
  const root = rootWith(t, {
    'proc/self/cgroup': '5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '250000\n',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  })
  assert.equal(cpuQuota(root), 2.5)
})

test('no quota, an unlimited one and a machine without cgroups answer null', (t) => {
  assert.equal(cpuQuota(rootWith(t, {})), null)
  const files = { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n' }
  assert.equal(cpuQuota(rootWith(t, files)), null)
  const first = {
    'proc/self/cgroup': '4:cpu:/\n',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  }
  assert.equal(cpuQuota(rootWith(t, first)), null)
})

const MIB = 1024 ** 2

test('the heaps of all workers together take two thirds of the memory limit', () => {
  const setting = { constrained: 2048 * MIB, total: 16_384 * MIB, nodeOptions: '' }
  assert.deepEqual(heapFlags(2, 0, setting), ['--max-old-space-size=665'])
  assert.deepEqual(heapFlags(8, 0, setting), ['--max-old-space-size=166'])
  assert.deepEqual(heapFlags(2, 512 * MIB, setting), ['--max-old-space-size=499'])
  assert.deepEqual(heapFlags(8, 0, { ...setting, constrained: 256 * MIB }), ['--max-old-space-size=64'])
})

test('without a memory limit, or with a heap that the operator has set, V8 decides', () => {
  const setting = { constrained: 2048 * MIB, total: 16_384 * MIB, nodeOptions: '' }
  assert.deepEqual(heapFlags(2, 0, { ...setting, constrained: 0 }), [])
  assert.deepEqual(heapFlags(2, 0, { ...setting, constrained: 2 ** 63 }), [])
  assert.deepEqual(heapFlags(2, 0, { ...setting, nodeOptions: '--no-warnings --max-old-space-size=900' }), [])
  assert.deepEqual(heapFlags(2, 0, { ...setting, nodeOptions: '--max_old_space_size=900' }), [])
})
