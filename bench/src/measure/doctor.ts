import { engines } from '../engine/engines.js'
import { PEERS } from '../model/run.js'
import { allowedCpus } from '../process/cores.js'
import { findProgram } from '../process/executables.js'
import { quotaUse, systemText } from '../process/process-use.js'
import { missingElasticsearch } from '../servers/elasticsearch.js'
import { missingSlapd } from '../servers/identity.js'
import { missingPeer } from '../servers/peers.js'

/** One requirement of a benchmark. */
export interface Finding {
  /** Subject, such as `cores`. */
  readonly subject: string
  readonly found: string
  /** Remedy, or null if there is no problem. */
  readonly remedy: string | null
}

const LEAST_FILES = 20_000
const LEAST_PORTS = 20_000
const CPUS = '/sys/devices/system/cpu'

/** Returns settings of the machine that affect results. */
export function machineFindings(): Finding[] {
  const cpus = allowedCpus()
  const governor = systemText(`${CPUS}/cpu${cpus[0]}/cpufreq/scaling_governor`) ?? 'unknown'
  const isSlow = !['performance', 'unknown'].includes(governor)
  // Intel's driver reports when turbo is off, others when it is on.
  const hasTurbo =
    systemText(`${CPUS}/intel_pstate/no_turbo`) === '0' || systemText(`${CPUS}/cpufreq/boost`) === '1'
  const siblings = cpus.map((cpu) => systemText(`${CPUS}/cpu${cpu}/topology/thread_siblings_list`) ?? cpu)
  const hasPairs = siblings.some((list) => /[,-]/.test(list))
  const quota = quotaUse()?.cores ?? Number.POSITIVE_INFINITY
  const files = /^Max open files\s+(\d+)/m.exec(systemText('/proc/self/limits') ?? '')?.[1] ?? 'Infinity'
  const backlog = systemText('/proc/sys/net/core/somaxconn') ?? ''
  const [first = 0, last = 0] = (systemText('/proc/sys/net/ipv4/ip_local_port_range') ?? '')
    .split(/\s+/)
    .map(Number)
  const few = `gateways with ${cpus.length} or more workers share their cores with the load generator; use a machine with more cores`
  return [
    finding('cores', `${cpus.length} usable`, cpus.length < 4 && few),
    finding('governor', governor, isSlow && 'cpupower frequency-set --governor performance'),
    finding(
      'turbo',
      hasTurbo ? 'on' : 'off or unknown',
      hasTurbo && 'the clock depends on heat: switch it off, or compare CPU time within one run only',
    ),
    finding('SMT', hasPairs ? 'on' : 'off', hasPairs && `echo off > ${CPUS}/smt/control`),
    finding(
      'CPU quota',
      quota === Number.POSITIVE_INFINITY ? 'none' : `${quota} cores`,
      quota < cpus.length && 'give the container cores (cpuset) in place of a quota',
    ),
    finding('open files', files, Number(files) < LEAST_FILES && `ulimit -n ${LEAST_FILES}`),
    finding('somaxconn', backlog, Number(backlog) < 4096 && 'sysctl -w net.core.somaxconn=4096'),
    finding(
      'ephemeral ports',
      String(last - first),
      last - first < LEAST_PORTS && 'sysctl -w net.ipv4.ip_local_port_range="32768 60999"',
    ),
  ]
}

/** Returns the available programs. */
export function programFindings(): Finding[] {
  const missing = findProgram('taskset') === null && 'install the package util-linux, or run with --no-pin'
  return [
    finding('taskset', missing === false ? 'installed' : 'not installed', missing),
    ...engines.map(({ name, version, remedy }) => {
      const found = version()
      return finding(name, found ?? 'not installed', found === null && remedy)
    }),
    ...PEERS.map((name) => [name, missingPeer(name)] as const).map(installed),
    installed(['Elasticsearch', missingElasticsearch()]),
    installed(['slapd', missingSlapd()]),
  ]
}

function installed([subject, remedy]: readonly [string, string | null]): Finding {
  return { subject, found: remedy === null ? 'installed' : 'not installed', remedy }
}

function finding(subject: string, found: string, remedy: string | false): Finding {
  return { subject, found, remedy: remedy === false ? null : remedy }
}
