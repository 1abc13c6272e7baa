import { formatSize } from '@sluice/core'
import type { GroupLimits } from '../model/machine.js'
import { type Finding, fine, warning } from './finding.js'

/** A worker takes 100 MB, and so do origin and load generator; Elasticsearch alone takes half of it. */
const LEAST_MEMORY_BYTES = 2 * 1024 ** 3

/** What of the control groups around the benchmark stands against good figures on so many usable cores. */
export function limitFindings(limits: GroupLimits, cores: number): Finding[] {
  return [cpuQuota(limits, cores), memory(limits)]
}

function cpuQuota({ cpus, cpuset }: GroupLimits, cores: number): Finding {
  const set = cpuset === null ? '' : `, cores ${cpuset}`
  if (cpus === null) return fine('CPU quota', `none${set}`)
  const found = `CPU time of ${Math.round(cpus * 100) / 100} cores${set}`
  if (cpus >= cores) return fine('CPU quota', found)
  const remedy =
    'gateway, load generator and origin share it and stand still when it is used up: give the container cores (cpuset) in place of a quota'
  return warning('CPU quota', found, remedy)
}

function memory({ memoryBytes }: GroupLimits): Finding {
  if (memoryBytes === null) return fine('memory limit', 'none')
  const found = formatSize(memoryBytes)
  if (memoryBytes >= LEAST_MEMORY_BYTES) return fine('memory limit', found)
  const remedy = `give the container ${formatSize(LEAST_MEMORY_BYTES)}, or what does not fit is ended by force`
  return warning('memory limit', found, remedy)
}
