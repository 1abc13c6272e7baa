import { readFileSync } from 'node:fs'
import { missingPeer } from '../contestant/peers.js'
import { findProgram, programVersion } from '../contestant/program.js'
import { missingElasticsearch } from '../contestant/search-engine.js'
import { PEERS } from '../model/run.js'
import { allowedCpus } from './cores.js'
import { QUIET_SHARE, quietLookSync } from './quiet-look.js'

/** One thing that a benchmark needs of its machine. */
export interface Finding {
  /** Such as `cores`. */
  readonly subject: string
  /** `warning`: the figures are less than they could be; `problem`: some points cannot be measured. */
  readonly level: 'ok' | 'warning' | 'problem'
  /** What was found. */
  readonly found: string
  /** What to do; null when all is well. */
  readonly remedy: string | null
}

const LEAST_FILES = 20_000
const LEAST_BACKLOG = 4096
const LEAST_PORTS = 20_000
const ENGINES = ['wrk', 'wrk2', 'oha', 'h2load'] as const

/** Looks at the machine, a second of it for whether it is quiet. */
export function doctor(): Finding[] {
  return [
    ...quiet(),
    cores(),
    pinning(),
    governor(),
    siblings(),
    openFiles(),
    backlog(),
    ephemeralPorts(),
    ...ENGINES.map(engine),
    ...PEERS.map(peer),
    searchEngine(),
  ]
}

const fine = (subject: string, found: string): Finding => ({ subject, level: 'ok', found, remedy: null })
const warning = (subject: string, found: string, remedy: string): Finding => ({
  subject,
  level: 'warning',
  found,
  remedy,
})

function quiet(): Finding[] {
  const { foreignShare, stolenShare } = quietLookSync()
  const others = `others use ${percent(foreignShare)} of it`
  const below = `the machine below takes ${percent(stolenShare)} away`
  return [
    foreignShare > QUIET_SHARE
      ? warning('quiet machine', others, 'end what runs beside the benchmark')
      : fine('quiet machine', others),
    stolenShare > QUIET_SHARE
      ? warning('stolen time', below, 'use a machine of its own, or compare CPU time per request only')
      : fine('stolen time', below),
  ]
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function cores(): Finding {
  const count = allowedCpus().length
  const found = `${count} usable`
  if (count >= 4) return fine('cores', found)
  const remedy = `gateways of up to ${count - 1} workers get cores of their own; use a machine with more for others`
  if (count >= 2) return warning('cores', found, remedy)
  return {
    subject: 'cores',
    level: 'problem',
    found,
    remedy: 'gateway and load generator share the core, so that no throughput is a result; use at least 2',
  }
}

function pinning(): Finding {
  if (findProgram('taskset') !== null) return fine('taskset', 'installed')
  return {
    subject: 'taskset',
    level: 'problem',
    found: 'not installed',
    remedy: 'install the package util-linux, or run with nothing pinned',
  }
}

function governor(): Finding {
  const mode = read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')
  if (mode === null) return fine('governor', 'the system does not control the clock of the cores')
  if (mode === 'performance') return fine('governor', mode)
  return warning('governor', mode, 'cpupower frequency-set --governor performance')
}

function siblings(): Finding {
  if (read('/sys/devices/system/cpu/smt/active') !== '1') return fine('SMT', 'off')
  const remedy =
    'two cores may be one: switch it off (echo off > /sys/devices/system/cpu/smt/control) for figures that scale'
  return warning('SMT', 'on', remedy)
}

function openFiles(): Finding {
  const limit = /^Max open files\s+(\S+)/m.exec(read('/proc/self/limits') ?? '')?.[1] ?? 'unlimited'
  if (limit === 'unlimited' || Number(limit) >= LEAST_FILES) return fine('open files', limit)
  return warning('open files', limit, `ulimit -n ${LEAST_FILES}, or thousands of connections fail`)
}

function backlog(): Finding {
  const bound = read('/proc/sys/net/core/somaxconn') ?? ''
  if (Number(bound) >= LEAST_BACKLOG) return fine('somaxconn', bound)
  return warning('somaxconn', bound, `sysctl -w net.core.somaxconn=${LEAST_BACKLOG}`)
}

function ephemeralPorts(): Finding {
  const [first, last] = (read('/proc/sys/net/ipv4/ip_local_port_range') ?? '').split(/\s+/).map(Number)
  const count = (last ?? 0) - (first ?? 0)
  if (count >= LEAST_PORTS) return fine('ephemeral ports', String(count))
  const remedy = 'sysctl -w net.ipv4.ip_local_port_range="32768 60999"'
  return warning('ephemeral ports', String(count), remedy)
}

function engine(name: (typeof ENGINES)[number]): Finding {
  const file = findProgram(name)
  if (file !== null) return fine(name, programVersion(file, '--version') ?? 'installed')
  const remedy = `install ${name} to use it as a load generator; autocannon is built in`
  return warning(name, 'not installed', remedy)
}

function peer(name: (typeof PEERS)[number]): Finding {
  const missing = missingPeer(name)
  return missing === null ? fine(name, 'installed') : warning(name, 'not installed', missing)
}

function searchEngine(): Finding {
  const missing = missingElasticsearch()
  if (missing === null) return fine('Elasticsearch', 'installed')
  return warning('Elasticsearch', 'not installed', missing)
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
