import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { groupLimits, throttling, throttlingSince } from './control-group.js'
import { systemRoot } from './testing/system-root.js'

const PID = 42

const VERSION_2 = {
  'proc/self/mountinfo': '30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate',
  [`proc/${PID}/cgroup`]: '0::/pod/gateway',
}

test('of version 2 the narrowest group up to the topmost holds', (t) => {
  const dir = systemRoot(t, {
    ...VERSION_2,
    'sys/fs/cgroup/pod/cpu.max': '150000 100000',
    'sys/fs/cgroup/pod/memory.max': 'max',
    'sys/fs/cgroup/pod/gateway/cpu.max': '400000 100000',
    'sys/fs/cgroup/pod/gateway/memory.max': '2147483648',
    'sys/fs/cgroup/pod/gateway/cpuset.cpus.effective': '2-3',
    'sys/fs/cgroup/pod/cpu.stat': 'usage_usec 9\nnr_periods 700\nnr_throttled 20\nthrottled_usec 5',
    'sys/fs/cgroup/pod/gateway/cpu.stat': 'usage_usec 9\nnr_periods 650\nnr_throttled 0',
  })
  assert.deepEqual(groupLimits(PID, dir), { cpus: 1.5, cpuset: '2-3', memoryBytes: 2 ** 31 })
  assert.deepEqual(throttling(PID, dir), { periods: 700, throttledPeriods: 20 })
})

test('of version 1 each controller has its own groups, and a container sees its own at the top', (t) => {
  const mount = (name: string): string =>
    `33 32 0:29 /docker/4f /sys/fs/cgroup/${name} ro - cgroup cgroup rw,${name}`
  const dir = systemRoot(t, {
    'proc/self/mountinfo': ['cpu,cpuacct', 'memory', 'cpuset'].map(mount).join('\n'),
    [`proc/${PID}/cgroup`]: '4:memory:/docker/4f\n3:cpuset:/docker/4f\n2:cpu,cpuacct:/docker/4f/x:y\n0::/',
    'sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '50000',
    'sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000',
    'sys/fs/cgroup/cpu,cpuacct/cpu.stat': 'nr_periods 10\nnr_throttled 4\nthrottled_time 99',
    'sys/fs/cgroup/cpu,cpuacct/x:y/cpu.cfs_quota_us': '-1',
    'sys/fs/cgroup/cpu,cpuacct/x:y/cpu.cfs_period_us': '100000',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
    'sys/fs/cgroup/cpuset/cpuset.effective_cpus': '0',
  })
  assert.deepEqual(groupLimits(PID, dir), { cpus: 0.5, cpuset: '0', memoryBytes: null })
  assert.deepEqual(throttling(PID, dir), { periods: 10, throttledPeriods: 4 })
})

test('without a quota nothing is counted, and without groups nothing is limited', (t) => {
  const free = systemRoot(t, {
    ...VERSION_2,
    'sys/fs/cgroup/pod/gateway/cpu.max': 'max 100000',
    'sys/fs/cgroup/pod/gateway/cpu.stat': 'nr_periods 0\nnr_throttled 0',
  })
  assert.equal(throttling(PID, free), null)
  const none = { cpus: null, cpuset: null, memoryBytes: null }
  assert.deepEqual(groupLimits(PID, systemRoot(t, {})), none)
  assert.deepEqual(groupLimits(2 ** 30), none)
  assert.equal(throttling(2 ** 30), null)
})

test('a quota that comes or goes between two looks has no difference', () => {
  const [before, after] = [
    { periods: 10, throttledPeriods: 1 },
    { periods: 30, throttledPeriods: 6 },
  ]
  assert.deepEqual(throttlingSince(before, after), { periods: 20, throttledPeriods: 5 })
  assert.deepEqual([throttlingSince(null, after), throttlingSince(before, null)], [null, null])
})

/** A group of version 1 below our own, with a tenth of a core; null where none can be made. */
function slowGroup(): string | null {
  const own = /^\d+:(?:[\w,]+,)?cpu(?:,[\w,]+)?:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  const folder = join('/sys/fs/cgroup/cpu', own ?? '', `sluice-test-${process.pid}`)
  if (own === undefined || !existsSync(dirname(folder))) return null
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'cpu.cfs_quota_us'), '10000')
    return folder
  } catch {
    return null
  }
}

test('a real process in a real group with a quota is seen to be held back', async (t) => {
  const folder = slowGroup()
  if (folder === null) return t.skip('no control group can be made here')
  const child = spawn(process.execPath, ['-e', 'for (;;) Math.sqrt(2)'], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    // A process that has ended leaves its group a moment later.
    for (let i = 0; i < 100 && !isRemoved(folder); i++)
      await new Promise((resolve) => setTimeout(resolve, 20))
  })
  writeFileSync(join(folder, 'cgroup.procs'), String(child.pid))
  const giveUpMono = performance.now() + 20_000
  while ((throttling(child.pid!)?.throttledPeriods ?? 0) < 2) {
    assert.ok(performance.now() < giveUpMono, 'a busy process with a tenth of a core must be held back')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(groupLimits(child.pid).cpus, 0.1)
})

function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}
