import type { MachineSettings } from '../model/machine.js'
import { type Finding, fine, warning } from './finding.js'
import { hasThreadPairs } from './machine-settings.js'

const LEAST_FILES = 20_000

/** What of a machine's settings stands against good figures. */
export function settingFindings(settings: MachineSettings): Finding[] {
  return [governor(settings), turbo(settings), threads(settings), openFiles(settings), hugePages(settings)]
}

function governor({ governor: mode }: MachineSettings): Finding {
  if (mode === null) return fine('governor', 'the system does not control the clock of the cores')
  if (mode === 'performance') return fine('governor', mode)
  return warning('governor', mode, 'cpupower frequency-set --governor performance')
}

function turbo({ turbo: isOn }: MachineSettings): Finding {
  if (isOn === null) return fine('turbo', 'the system does not tell')
  if (!isOn) return fine('turbo', 'off')
  const remedy =
    'the clock depends on heat and on how many cores work: switch it off (echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost), or compare CPU time within one run only'
  return warning('turbo', 'on', remedy)
}

function threads(settings: MachineSettings): Finding {
  const cores = settings.siblings.join(' ')
  if (!hasThreadPairs(settings)) return fine('SMT', 'off, one thread on each core')
  const remedy =
    'two threads share a core: switch it off (echo off > /sys/devices/system/cpu/smt/control) for figures that scale'
  return warning('SMT', `on, threads by core: ${cores}`, remedy)
}

function openFiles({ openFiles: limit }: MachineSettings): Finding {
  if (limit === null || limit >= LEAST_FILES) return fine('open files', String(limit ?? 'unlimited'))
  return warning('open files', String(limit), `ulimit -n ${LEAST_FILES}, or thousands of connections fail`)
}

/** For the reader: no setting of it is known to stand against good figures. */
function hugePages({ transparentHugePages: mode }: MachineSettings): Finding {
  return fine('huge pages', mode ?? 'the system has no transparent ones')
}
