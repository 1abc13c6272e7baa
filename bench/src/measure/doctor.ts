import { missingMemoryGroups } from '../contestant/memory-group.js'
import { missingPeer } from '../contestant/peers.js'
import { findProgram } from '../contestant/program.js'
import { missingElasticsearch } from '../contestant/search-engine.js'
import { engines } from '../engine/engines.js'
import type { Engine } from '../model/engine.js'
import { PEERS } from '../model/run.js'
import { groupLimits } from './control-group.js'
import { allowedCpus } from './cores.js'
import { type Finding, fine, problem, warning } from './finding.js'
import { limitFindings } from './limit-findings.js'
import { machineSettings } from './machine-settings.js'
import { QUIET_SHARE, quietLookSync } from './quiet-look.js'
import { settingFindings } from './setting-findings.js'
import { systemText } from './system-file.js'

const LEAST_BACKLOG = 4096
const LEAST_PORTS = 20_000

/** Looks at the machine, a second of it for whether it is quiet. */
export function doctor(): Finding[] {
  return [
    ...quiet(),
    cores(),
    pinning(),
    ...settingFindings(machineSettings()),
    ...limitFindings(groupLimits(), allowedCpus().length),
    tierMemory(),
    backlog(),
    ephemeralPorts(),
    ...engines.map(loadGenerator),
    ...PEERS.map(peer),
    searchEngine(),
  ]
}

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
  return problem(
    'cores',
    found,
    'gateway and load generator share the core, so that no throughput is a result; use at least 2',
  )
}

function pinning(): Finding {
  if (findProgram('taskset') !== null) return fine('taskset', 'installed')
  const remedy = 'install the package util-linux, or run with nothing pinned'
  return problem('taskset', 'not installed', remedy)
}

function tierMemory(): Finding {
  const missing = missingMemoryGroups()
  if (missing === null) return fine('memory of tiers', 'limits can be set')
  return warning('memory of tiers', 'no limits can be set', missing)
}

function backlog(): Finding {
  const bound = systemText('/proc/sys/net/core/somaxconn') ?? ''
  if (Number(bound) >= LEAST_BACKLOG) return fine('somaxconn', bound)
  return warning('somaxconn', bound, `sysctl -w net.core.somaxconn=${LEAST_BACKLOG}`)
}

function ephemeralPorts(): Finding {
  const [first, last] = (systemText('/proc/sys/net/ipv4/ip_local_port_range') ?? '').split(/\s+/).map(Number)
  const count = (last ?? 0) - (first ?? 0)
  if (count >= LEAST_PORTS) return fine('ephemeral ports', String(count))
  const remedy = 'sysctl -w net.ipv4.ip_local_port_range="32768 60999"'
  return warning('ephemeral ports', String(count), remedy)
}

function loadGenerator(engine: Engine): Finding {
  const version = engine.version()
  if (version !== null) return fine(engine.name, version)
  return warning(engine.name, 'not installed', engine.remedy)
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
