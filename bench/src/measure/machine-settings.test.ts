import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineSettings } from '../model/machine.js'
import { allowedCpus } from './cores.js'
import { limitFindings } from './limit-findings.js'
import { hasThreadPairs, machineSettings } from './machine-settings.js'
import { settingFindings } from './setting-findings.js'
import { systemRoot } from './testing/system-root.js'

const CPUS = 'sys/devices/system/cpu'

test('settings are read as the kernel writes them', (t) => {
  const threads = Object.fromEntries(
    ['0', '1', '2', '3'].map((cpu) => [
      `${CPUS}/cpu${cpu}/topology/thread_siblings_list`,
      Number(cpu) % 2 === 0 ? '0,2' : '1,3',
    ]),
  )
  const dir = systemRoot(t, {
    ...threads,
    [`${CPUS}/cpu0/cpufreq/scaling_governor`]: 'powersave',
    [`${CPUS}/intel_pstate/no_turbo`]: '0',
    'proc/self/limits': 'Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files',
    'sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never',
  })
  const settings = machineSettings(dir, ['0', '1', '2', '3'])
  assert.deepEqual(settings, {
    governor: 'powersave',
    turbo: true,
    siblings: ['0,2', '1,3'],
    openFiles: 1024,
    transparentHugePages: 'madvise',
  })
  assert.ok(hasThreadPairs(settings))
})

test('turbo is told in two ways, and where nothing is told nothing is known', (t) => {
  const turbo = (file: string, text: string): boolean | null =>
    machineSettings(systemRoot(t, { [`${CPUS}/${file}`]: text }), ['0']).turbo
  assert.deepEqual(
    [
      turbo('cpufreq/boost', '1'),
      turbo('cpufreq/boost', '0'),
      turbo('intel_pstate/no_turbo', '1'),
      turbo('other', ''),
    ],
    [true, false, false, null],
  )
  const nothing = machineSettings(systemRoot(t, {}), ['0', '1'])
  const unknown = { governor: null, turbo: null, openFiles: null, transparentHugePages: null }
  assert.deepEqual(nothing, { ...unknown, siblings: ['0', '1'] })
  assert.ok(!hasThreadPairs(nothing))
})

test('the settings of this machine name each of its cores', () => {
  const { siblings, openFiles } = machineSettings()
  assert.ok(siblings.length >= 1 && siblings.length <= allowedCpus().length)
  assert.ok(openFiles === null || openFiles > 0)
})

const GOOD: MachineSettings = {
  ...{ governor: 'performance', turbo: false, siblings: ['0', '1'], openFiles: 65_536 },
  transparentHugePages: 'madvise',
}

function warned(settings: Partial<MachineSettings>): string[] {
  const findings = settingFindings({ ...GOOD, ...settings })
  return findings.filter(({ level }) => level !== 'ok').map(({ subject, found }) => `${subject}: ${found}`)
}

test('the doctor warns of every setting that stands against good figures, and of no other', () => {
  assert.deepEqual(warned({}), [])
  assert.deepEqual(warned({ governor: 'powersave' }), ['governor: powersave'])
  assert.deepEqual(warned({ turbo: true }), ['turbo: on'])
  assert.deepEqual(warned({ siblings: ['0,2', '1,3'] }), ['SMT: on, threads by core: 0,2 1,3'])
  assert.deepEqual(warned({ openFiles: 1024 }), ['open files: 1024'])
  const unknown = { governor: null, turbo: null, openFiles: null, transparentHugePages: null }
  assert.deepEqual(warned(unknown), [])
})

test('the doctor warns of a container that has less than the machine', () => {
  const level = (limits: Partial<Parameters<typeof limitFindings>[0]>): string[] =>
    limitFindings({ cpus: null, cpuset: '0-3', memoryBytes: null, ...limits }, 4).map(
      (finding) => `${finding.level} ${finding.found}`,
    )
  assert.deepEqual(level({}), ['ok none, cores 0-3', 'ok none'])
  assert.deepEqual(level({ cpus: 4 })[0], 'ok CPU time of 4 cores, cores 0-3')
  assert.deepEqual(level({ cpus: 1.5 })[0], 'warning CPU time of 1.5 cores, cores 0-3')
  assert.deepEqual(level({ memoryBytes: 2 ** 30 })[1], 'warning 1 GB')
  assert.deepEqual(level({ memoryBytes: 2 ** 33 })[1], 'ok 8 GB')
})
