import type { MachineSettings } from '../model/machine.js'
import { allowedCpus } from './cores.js'
import { systemText } from './system-file.js'

const CPUS = '/sys/devices/system/cpu'

/** The settings of this machine now, as the files of the kernel below a root say. */
export function machineSettings(root = '/', cpus: readonly string[] = allowedCpus()): MachineSettings {
  return {
    governor: systemText(`${CPUS}/cpu${cpus[0] ?? 0}/cpufreq/scaling_governor`, root),
    turbo: turbo(root),
    siblings: siblings(root, cpus),
    openFiles: openFiles(root),
    transparentHugePages: chosenWord(systemText('/sys/kernel/mm/transparent_hugepage/enabled', root)),
  }
}

/** Whether some core has two threads, which share it: what one does slows the other. */
export function hasThreadPairs({ siblings }: MachineSettings): boolean {
  return siblings.some((list) => /[,-]/.test(list))
}

/** The driver of Intel says when it is off, all others when it is on. */
function turbo(root: string): boolean | null {
  const noTurbo = systemText(`${CPUS}/intel_pstate/no_turbo`, root)
  if (noTurbo !== null) return noTurbo === '0'
  const boost = systemText(`${CPUS}/cpufreq/boost`, root)
  return boost === null ? null : boost === '1'
}

function siblings(root: string, cpus: readonly string[]): string[] {
  const lists = cpus.map((cpu) => systemText(`${CPUS}/cpu${cpu}/topology/thread_siblings_list`, root) ?? cpu)
  return [...new Set(lists)]
}

function openFiles(root: string): number | null {
  const limits = systemText('/proc/self/limits', root) ?? ''
  const limit = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return limit === undefined ? null : Number(limit)
}

/** Of `always [madvise] never` the one in brackets. */
function chosenWord(text: string | null): string | null {
  return /\[(\w+)\]/.exec(text ?? '')?.[1] ?? null
}
